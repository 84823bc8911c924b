import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { useTransport } from '@connectrpc/connect-query';
import { useRef, useState } from 'react';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { SlotService } from '#gen/slot/v1/slot_service_pb';
import { notify } from '../../rpc/notices.ts';
import { useWriteEach } from '../../rpc/write.ts';
import { clock } from '../../session/clock.ts';
import { late } from '../../ui/pauses.tsx';
import { words } from '../../words.ts';
import { readTaken } from '../record/draft.ts';
import { slotsInWords } from '../record/slot-state.tsx';
import { type Move, moveConcerns, movesBy, plansAfter, type Shift } from './move.ts';

// Fetched when it is first needed.
const MoveDialog = late(async () => (await import('./slot-actions.tsx')).MoveDialog);

const longestLookMs = 1_000;
const text = words.slots;

type Slots = readonly PlannedSlot[];
/** So long stands a notice that undoes a move. */
const chainMs = 20_000;

/**
 * Lets a page move slots at once, or to where staff say. Notices undo what was moved, and try again what was not. What
 * looks like a mistake is asked about. `onLeft` is called with the slots that were not moved, if there are any.
 */
export function useMoving(now: number, onLeft: (ids: readonly number[]) => void) {
  const transport = useTransport();
  const write = useWriteEach(SlotService.method.updateSlot);
  const [asked, setAsked] = useState<{ readonly slots: readonly PlannedSlot[]; readonly by: Shift }>();
  // Moves that follow one another quickly wait for each other.
  const last = useRef(Promise.resolve());
  // What moves have made of slots, by what each was before: the page may still show it so.
  const made = useRef(new Map<string, PlannedSlot>());
  // The last move: another one of what it has made of the slots, soon after it, is undone together with it.
  const chain = useRef<{ readonly at: number; readonly first: Slots; readonly by: Shift }>(undefined);
  const latestOf = (slot: PlannedSlot): PlannedSlot => {
    const next = made.current.get(versionOf(slot));
    return next === undefined ? slot : latestOf(next);
  };
  const latest = (slots: Slots) => slots.map((slot) => versionOf(latestOf(slot))).join();

  const writeTimes = async (slots: readonly PlannedSlot[]) => {
    const sent = await write(slots.map(toRequest));
    const etags = new Map(sent.answers.map(({ slot }) => [slot?.id, slot?.etag]));
    for (const slot of slots) {
      const etag = etags.get(slot.id) ?? slot.etag;
      // Slots of an older schema have the same etag until they are changed.
      if (etag !== slot.etag) made.current.set(versionOf(slot), { ...slot, etag });
    }
    return sent;
  };
  const send = async (moves: readonly Move[], by: Shift): Promise<readonly number[]> => {
    const { answers, failed, failure, storeRequestId } = await writeTimes(moves.map(({ after }) => after));
    const left = failed.map(({ id }) => id);
    if (answers.length > 0) {
      const done = moves.filter(({ before }) => !left.includes(before.id));
      const moved = done.map(({ before }) => before);
      const { at, first, by: before } = chain.current ?? { at: 0, first: [], by };
      const sum = { days: by.days + before.days, minutes: by.minutes + before.minutes };
      const isNext = latest(first) === latest(moved) && clock.now() - at < chainMs && inWords(sum) !== '';
      const whole = isNext ? { first, by: sum } : { first: moved, by };
      chain.current = { ...whole, at: clock.now() };
      const back = whole.first.map((slot) => ({ ...slot, etag: latestOf(slot).etag }));
      notify({
        text: text.moved(slotsInWords(done.length), inWords(whole.by)),
        undo: () => {
          chain.current = undefined;
          return writeTimes(back);
        },
        about: 'moved slots',
        storeRequestId,
      });
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
  const move = (slots: readonly PlannedSlot[], by: Shift, isSure = false) => {
    setAsked(undefined);
    last.current = last.current.then(async () => {
      const moves = movesBy(slots.map(latestOf), by);
      if (moves.length === 0) return;
      if (!isSure && (await isOdd(moves))) return setAsked({ slots: moves.map(({ before }) => before), by });
      const left = await send(moves, by);
      if (left.length > 0) onLeft(left);
    });
  };

  const dialog = asked !== undefined && (
    <MoveDialog
      slots={asked.slots}
      start={asked.by}
      now={now}
      onClose={() => setAsked(undefined)}
      onMove={(by) => move(asked.slots, by, true)}
    />
  );
  return { move, ask: (slots: readonly PlannedSlot[]) => setAsked({ slots, by: { days: 0, minutes: 0 } }), dialog };
}

const versionOf = ({ id, etag }: PlannedSlot) => `${id} ${etag}`;

/** An UpdateSlot that changes the times of a slot only. */
function toRequest({ id, isActive, groupIds, etag, deliveryTime, freezeTime }: PlannedSlot) {
  const inText = (at: Timestamp | undefined) => (at === undefined ? '' : timestampDate(at).toISOString());
  return { id, isActive, groupIds, etag, deliveryTime: inText(deliveryTime), freezeTime: inText(freezeTime) };
}

/** Says a shift in words, such as "1 day and −2 h". */
function inWords({ days, minutes }: Shift): string {
  const inDays = days === 0 ? '' : `${days} ${Math.abs(days) === 1 ? 'day' : 'days'}`;
  const [hours, rest] = [Math.trunc(minutes / 60), minutes % 60];
  const inTime = [hours !== 0 && `${hours} h`, rest !== 0 && `${rest} min`].filter(Boolean).join(' ');
  return [inDays, minutes === 0 ? '' : inTime].filter(Boolean).join(' and ').replaceAll('-', '−');
}
