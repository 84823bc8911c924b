import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { useTransport } from '@connectrpc/connect-query';
import { Suspense, useRef, useState } from 'react';
import { SlotService } from '#gen/slot/v1/slot_service_pb';
import { notify, type Undone } from '../../rpc/notices.ts';
import { useWriteEach } from '../../rpc/write-each.ts';
import { clock } from '../../session/clock.ts';
import { late } from '../../ui/pauses.ts';
import { words } from '../../words.ts';
import { slotsInWords } from '../record/slot-state.tsx';
import { readTaken } from '../record/taken.ts';
import { type Move, type Moved, moveConcerns, movesBy, plansAfter, type Shift } from './move.ts';

// Fetched when it is first needed.
const MoveDialog = late(async () => (await import('./move-dialog.tsx')).MoveDialog);

const longestLookMs = 1_000;
const text = words.slots;

/**
 * Lets a page move slots at once, or to where staff say. A notice says what was moved, and undoes it; another one says what
 * was not moved, and tries again. What looks like a mistake is asked about.
 *
 * @param now in Unix ms.
 * @param onLeft called with the slots that were not moved, if there are any.
 */
export function useMoving(now: number, onLeft: (ids: readonly number[]) => void) {
  const transport = useTransport();
  const write = useWriteEach(SlotService.method.updateSlot);
  const [asked, setAsked] = useState<{ readonly slots: readonly Moved[]; readonly by: Shift }>();
  // Moves that follow one another quickly wait for each other.
  const last = useRef(Promise.resolve());
  // What moves have made of slots, by what each was before: the page may still show it so.
  const made = useRef(new Map<string, Moved>());
  const latestOf = (slot: Moved): Moved => {
    const next = made.current.get(versionOf(slot));
    return next === undefined ? slot : latestOf(next);
  };

  const writeTimes = async (slots: readonly Moved[]) => {
    const sent = await write(slots.map(toRequest));
    const before = new Map(slots.map((slot) => [slot.id, versionOf(slot)]));
    for (const { slot } of sent.answers) {
      const was = before.get(slot?.id ?? 0);
      // Slots of an older schema have the same etag until they are changed.
      if (slot !== undefined && was !== undefined && was !== versionOf(slot)) made.current.set(was, slot);
    }
    return sent;
  };
  const send = async (moves: readonly Move[], by: Shift): Promise<readonly number[]> => {
    const { answers, failed, failure, storeRequestId } = await writeTimes(moves.map(({ after }) => after));
    const left = failed.map(({ id }) => id);
    if (answers.length > 0) {
      const back = moves
        .filter(({ before }) => !left.includes(before.id))
        .map(({ before }) => ({ ...before, etag: latestOf(before).etag }));
      const undo = async (): Promise<Undone> => ({ failure: (await writeTimes(back)).failure });
      const done = text.moved(slotsInWords(answers.length), inWords(by));
      notify({ text: done, undo, about: 'moved slots', storeRequestId });
    }
    if (failure !== undefined) {
      const again = moves.filter(({ before }) => left.includes(before.id));
      notify({
        text: text.notMoved(slotsInWords(left.length), `${failure.title}. ${failure.advice}`),
        isProblem: true,
        about: 'unmoved slots',
        ...(failure.reason !== 'ETAG_MISMATCH' && { retry: () => void send(again, by) }),
      });
    }
    return left;
  };
  /** Whether moves lead into the past or to a taken time. What can't be looked up soon is not asked about. */
  const isOdd = async (moves: readonly Move[]) => {
    if (moveConcerns(moves, clock.now()).length > 0) return true;
    const taken = readTaken(transport, plansAfter(moves), AbortSignal.timeout(longestLookMs));
    return (await taken.catch(() => [])).length > 0;
  };
  const move = (slots: readonly Moved[], by: Shift, isSure = false) => {
    last.current = last.current.then(async () => {
      const moves = movesBy(slots.map(latestOf), by);
      if (moves.length === 0) return;
      if (!isSure && (await isOdd(moves))) return setAsked({ slots: moves.map(({ before }) => before), by });
      const left = await send(moves, by);
      if (left.length > 0) onLeft(left);
    });
  };

  const dialog = asked !== undefined && (
    <Suspense>
      <MoveDialog
        slots={asked.slots}
        start={asked.by}
        now={now}
        onClose={() => setAsked(undefined)}
        onMove={(by) => {
          setAsked(undefined);
          move(asked.slots, by, true);
        }}
      />
    </Suspense>
  );
  return { move, ask: (slots: readonly Moved[]) => setAsked({ slots, by: { days: 0, minutes: 0 } }), dialog };
}

const versionOf = ({ id, etag }: Moved) => `${id} ${etag}`;

/** An UpdateSlot that changes the times of a slot only. */
function toRequest({ id, isActive, groupIds, etag, deliveryTime, freezeTime }: Moved) {
  const inText = (at: Timestamp | undefined) => (at === undefined ? '' : timestampDate(at).toISOString());
  return { id, isActive, groupIds, etag, deliveryTime: inText(deliveryTime), freezeTime: inText(freezeTime) };
}

/** Says a shift in words, such as "1 day and −2 h". */
function inWords({ days, minutes }: Shift): string {
  const inDays = days !== 0 && `${days} ${Math.abs(days) === 1 ? 'day' : 'days'}`;
  const inHours = minutes !== 0 && (minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`);
  return [inDays, inHours]
    .filter((part) => part !== false)
    .join(' and ')
    .replaceAll('-', '−');
}
