import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { PlannedSlot } from '../../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { moveMoment } from '../../business/time-input.ts';
import { notify, type Undone } from '../../rpc/notices.ts';
import { useWriteEach } from '../../rpc/write-each.ts';
import { slotsInWords } from '../record/slot-state.tsx';

/** By how much of the wall clock slots are moved. */
export interface Shift {
  readonly days: number;
  readonly minutes: number;
}

/** Returns a function that moves slots. "Orders close" moves along. A notice says what was moved, and undoes it. */
export function useMove() {
  const write = useWriteEach(SlotService.method.updateSlot);
  const move = async (slots: readonly PlannedSlot[], by: Shift): Promise<void> => {
    if (write.isPending || (by.days === 0 && by.minutes === 0)) return;
    const sent = await write.send(slots.map((slot) => withTimes(slot, slot.etag, (at) => moveMoment(at, by))));
    const etags = new Map(sent.answers.map(({ slot }) => [slot?.id, slot?.etag ?? '']));
    const moved = slots.filter(({ id }) => etags.has(id));
    const undo = async (): Promise<Undone> => {
      const back = moved.map((slot) =>
        withTimes(slot, etags.get(slot.id) ?? '', (at) => timestampDate(at).toISOString()),
      );
      return { failure: (await write.send(back)).failures[0] };
    };
    if (moved.length > 0) {
      const text = `${slotsInWords(moved.length)} moved by ${inWords(by)}`;
      notify({ text, undo, about: 'moved slots', storeRequestId: sent.storeRequestId });
    }
    const [failure] = sent.failures;
    if (failure !== undefined) {
      const text = `${slotsInWords(sent.failures.length)} not moved: ${failure.title}. ${failure.advice}`;
      notify({ text, isProblem: true });
    }
  };
  return { move, isPending: write.isPending };
}

/** An UpdateSlot that changes the times of a slot only. */
function withTimes(slot: PlannedSlot, etag: string, toTime: (at: Timestamp) => string) {
  const { id, isActive, groupIds, deliveryTime, freezeTime } = slot;
  const times = [deliveryTime, freezeTime].map((at) => (at === undefined ? '' : toTime(at)));
  const [delivery = '', freeze = ''] = times;
  return { id, isActive, groupIds, etag, deliveryTime: delivery, freezeTime: freeze };
}

/** Says a shift in words, such as "1 day and -2 h". */
function inWords({ days, minutes }: Shift): string {
  const parts = [
    ...(days === 0 ? [] : [`${days} ${Math.abs(days) === 1 ? 'day' : 'days'}`]),
    ...(minutes === 0 ? [] : minutes % 60 === 0 ? [`${minutes / 60} h`] : [`${minutes} min`]),
  ];
  return parts.join(' and ').replaceAll('-', '−');
}
