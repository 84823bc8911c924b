import { type Timestamp, timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { useTransport } from '@connectrpc/connect-query';
import { useRef } from 'react';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { SlotService } from '#gen/slot/v1/slot_service_pb';
import { moveMoment } from '../../business/time-input.ts';
import { notify, type Undone } from '../../rpc/notices.ts';
import { useWriteEach } from '../../rpc/write-each.ts';
import { clock } from '../../session/clock.ts';
import { words } from '../../words.ts';
import { slotsInWords } from '../record/slot-state.tsx';
import { type Plan, readTaken } from '../record/taken.ts';

const longestLookMs = 1_000;
const text = words.slots;

/** By how much of the wall clock slots are moved. */
export interface Shift {
  readonly days: number;
  readonly minutes: number;
}

/** A slot, as far as a move needs it. */
export type Moved = Pick<PlannedSlot, 'id' | 'isActive' | 'groupIds' | 'etag' | 'deliveryTime' | 'freezeTime'>;

/**
 * Returns a function that moves slots. "Orders close" moves along. A notice says what was moved, and undoes it; another
 * one says what was not moved, and tries again. Resolves with the slots that were not moved. Moves that follow one
 * another quickly wait for each other.
 *
 * @param ask is called instead with what looks like a mistake, unless staff are sure.
 */
export function useMove(ask: (slots: readonly Moved[], by: Shift) => void) {
  const transport = useTransport();
  const write = useWriteEach(SlotService.method.updateSlot);
  const end = useRef(Promise.resolve<unknown>(undefined));
  // What moves have made of slots, by what each was before: the page may still show it so.
  const moves = useRef(new Map<string, Moved>());
  const afterMoves = (slot: Moved): Moved => {
    const moved = moves.current.get(versionOf(slot));
    return moved === undefined ? slot : afterMoves(moved);
  };

  /** Says which slots take the times of plans. What can't be looked up soon is not asked about. */
  const lookFor = async (plans: readonly Plan[]): Promise<readonly Plan[]> => {
    try {
      return await readTaken(transport, plans, AbortSignal.timeout(longestLookMs));
    } catch {
      return [];
    }
  };
  const writeMoves = async (requests: readonly Request[]) => {
    const sent = await write(requests);
    const etags = new Map(requests.map(({ id, etag }) => [id, etag]));
    for (const { slot } of sent.answers) {
      if (slot === undefined) continue;
      const before = versionOf({ id: slot.id, etag: etags.get(slot.id) ?? '' });
      if (before !== versionOf(slot)) moves.current.set(before, slot);
    }
    return sent;
  };
  const send = async (
    requests: readonly Request[],
    by: Shift,
    undone: readonly Request[],
  ): Promise<readonly number[]> => {
    const { answers, failed, failure, storeRequestId } = await writeMoves(requests);
    const etags = new Map(answers.map(({ slot }) => [slot?.id ?? 0, slot?.etag ?? '']));
    const back = undone.flatMap((request) => {
      const etag = etags.get(request.id);
      return etag === undefined ? [] : [{ ...request, etag }];
    });
    if (answers.length > 0) {
      const done = text.moved(slotsInWords(answers.length), inWords(by));
      const undo = async (): Promise<Undone> => ({ failure: (await writeMoves(back)).failure });
      notify({ text: done, undo, about: 'moved slots', storeRequestId });
    }
    if (failure !== undefined) {
      const told = text.notMoved(slotsInWords(failed.length), `${failure.title}. ${failure.advice}`);
      const retry = () => void send(failed, by, undone);
      notify({
        text: told,
        isProblem: true,
        about: 'unmoved slots',
        ...(failure.reason !== 'ETAG_MISMATCH' && { retry }),
      });
    }
    return failed.map(({ id }) => id);
  };

  return async (slots: readonly Moved[], by: Shift, isSure = false): Promise<readonly number[]> => {
    if (by.days === 0 && by.minutes === 0) return [];
    const run = async () => {
      const moved = slots.map(afterMoves);
      if (!isSure) {
        const isLate = moveConcerns(moved, by, clock.now()).length > 0;
        if (isLate || (await lookFor(plansAfter(moved, by))).length > 0) {
          ask(moved, by);
          return [];
        }
      }
      const requests = moved.map((slot) => withTimes(slot, (at) => moveMoment(at, by)));
      const undone = moved.map((slot) => withTimes(slot, (at) => timestampDate(at).toISOString()));
      return send(requests, by, undone);
    };
    const done = end.current.then(run);
    end.current = done;
    return done;
  };
}

// Slots of an older schema have the same etag until they are changed.
const versionOf = ({ id, etag }: Pick<Moved, 'id' | 'etag'>) => `${id} ${etag}`;

type Request = ReturnType<typeof withTimes>;

/** Returns where slots are after a move. Deactivated ones take no time. */
export function plansAfter(slots: readonly Moved[], by: Shift): Plan[] {
  return slots
    .filter(({ isActive }) => isActive)
    .map(({ id, groupIds, deliveryTime }) => ({
      id,
      groupIds,
      at: deliveryTime === undefined ? Number.NaN : Date.parse(moveMoment(deliveryTime, by)),
    }));
}

/** Says whether a move leads into the past, at a time in Unix ms. */
export function moveConcerns(slots: readonly Moved[], by: Shift, now: number): string[] {
  const isLate = (slot: Moved) =>
    slot.deliveryTime !== undefined &&
    timestampMs(slot.deliveryTime) >= now &&
    Date.parse(moveMoment(slot.deliveryTime, by)) < now;
  const late = slots.filter(isLate).length;
  return late === 0 ? [] : [text.late(slotsInWords(late))];
}

/** An UpdateSlot that changes the times of a slot only. */
function withTimes(
  { id, isActive, groupIds, etag, deliveryTime, freezeTime }: Moved,
  toTime: (at: Timestamp) => string,
) {
  const timeOf = (at: Timestamp | undefined) => (at === undefined ? '' : toTime(at));
  return { id, isActive, groupIds, etag, deliveryTime: timeOf(deliveryTime), freezeTime: timeOf(freezeTime) };
}

/** Says a shift in words, such as "1 day and -2 h". */
function inWords({ days, minutes }: Shift): string {
  const parts = [
    ...(days === 0 ? [] : [`${days} ${Math.abs(days) === 1 ? 'day' : 'days'}`]),
    ...(minutes === 0 ? [] : minutes % 60 === 0 ? [`${minutes / 60} h`] : [`${minutes} min`]),
  ];
  return parts.join(' and ').replaceAll('-', '−');
}
