import type { MessageInitShape } from '@bufbuild/protobuf';
import { useRef } from 'react';
import { type PlannedSlot, SlotPlanService, type SlotVersion } from '#gen/slot/v1/slot_plan_service_pb';
import { SlotService } from '#gen/slot/v1/slot_service_pb';
import { useQuestion } from '../../forms/question.tsx';
import { notify, type Undone } from '../../rpc/notices.ts';
import { useWrite, useWriteEach } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { words } from '../../words.ts';
import { planOf, useTaken } from './draft.ts';
import { bookedConcerns, ordersClose, type SlotState, slotsInWords } from './slot-state.tsx';

const { updateSlots } = SlotPlanService.method;
type Change = NonNullable<MessageInitShape<typeof updateSlots.input>['change']>;
type Changes = ReadonlyMap<number, Change>;

/** Lets a component change slots, all or none. A notice says that 3 slots are `done`, and undoes it, or why they are not. */
export function useUpdateSlots(done: string, undone: string) {
  const writeEach = useWriteEach(updateSlots);
  // What takes each slot back to how it was before the last change.
  const lastBack = useRef<Changes>(new Map());
  const undo = async (saved: readonly SlotVersion[], back: Changes): Promise<Undone> => {
    const changes = new Map([...back.values()].map((change) => [change.value, change]));
    const requests = [...changes].map(([value, change]) => ({
      slots: saved.filter(({ id }) => back.get(id)?.value === value),
      change,
    }));
    const { answers, failure } = await writeEach(requests);
    const count = answers.reduce((sum, { changed }) => sum + changed, 0);
    if (count > 0) notify({ text: `${slotsInWords(count)} ${undone}`, about: words.slots.selected });
    return { failure };
  };
  const write = useWrite(
    updateSlots,
    ({ slots: saved, changed }) => {
      const back = lastBack.current;
      return { text: `${slotsInWords(changed)} ${done}`, undo: () => undo(saved, back) };
    },
    words.slots.selected,
  );
  /** @param was returns the change that takes a slot back to how it is. */
  const send = (slots: readonly PlannedSlot[], change: Change, was: (slot: PlannedSlot) => Change) => {
    lastBack.current = new Map(slots.map((slot) => [slot.id, was(slot)]));
    return write.send({ slots: slots.map(({ id, etag }) => ({ id, etag })), change });
  };
  return { write, send };
}

interface FlagButtonProps {
  readonly slots: readonly PlannedSlot[];
  readonly flag: 'isCapacityFull' | 'isActive';
  readonly value: boolean;
  readonly text: string;
  readonly done: string;
  readonly undone: string;
}

/** Sets a flag of those slots that do not have it, all or none, which can be undone. */
export function FlagButton({ slots, flag, value, text, done, undone }: FlagButtonProps) {
  const { write, send } = useUpdateSlots(done, undone);
  const others = slots.filter((slot) => slot[flag] !== value);
  const set = () => void send(others, { case: flag, value }, () => ({ case: flag, value: !value }));
  const { taken, isChecking } = useTaken(flag === 'isActive' && value ? others.map(planOf) : []);
  const booked = flag === 'isActive' && !value ? bookedConcerns(others, words.slots.closesBooked) : [];
  const { ask, isWaiting, question } = useQuestion([...taken, ...booked], isChecking, text, set);
  if (others.length === 0) return null;
  return (
    <>
      <Button isPending={write.isPending || isWaiting} onPress={ask}>
        {text}
      </Button>
      {question}
    </>
  );
}

interface CapacityButtonProps {
  /** Set while the slot is edited: the button would change its etag, as if somebody else had changed the slot. */
  readonly isDisabled?: boolean;
  readonly slot: SlotState & { readonly id: number };
  readonly now: number;
}

/** Marks a slot that takes orders as full or open. Needs no guard: the result is the same whoever taps first. */
export function CapacityButton({ slot, now, isDisabled = false }: CapacityButtonProps) {
  const name = words.slots.slot(slot.id);
  const { send, isPending } = useWrite(
    SlotService.method.updateSlotCapacity,
    ({ message, slot: saved }) => ({
      text: `${name}: ${message}`,
      undo: (): Promise<Undone> => send({ slotId: slot.id, isCapacityFull: !saved?.isCapacityFull }),
    }),
    name,
  );
  if (!slot.isActive || ordersClose(slot, now) === undefined) return null;
  const isCapacityFull = !slot.isCapacityFull;
  const text = isPending ? words.saving : words.slots[isCapacityFull ? 'full' : 'open'].text;
  return (
    <Button
      isPending={isPending}
      isDisabled={isDisabled}
      onPress={() => void send({ slotId: slot.id, isCapacityFull })}
      aria-label={`${text}: ${name.toLowerCase()}`}
    >
      {text}
    </Button>
  );
}
