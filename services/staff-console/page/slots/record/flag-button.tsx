import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { useQuestion } from '../../forms/question.tsx';
import { Button } from '../../ui/button.tsx';
import { planOf } from './taken.ts';
import { useUpdateSlots } from './update-slots.ts';
import { useTaken } from './use-taken.ts';

interface FlagButtonProps {
  readonly slots: readonly PlannedSlot[];
  readonly flag: 'isCapacityFull' | 'isActive';
  readonly value: boolean;
  readonly text: string;
  /** What was done, in the notice. */
  readonly done: string;
  /** What was done when it is undone. */
  readonly undone: string;
}

/** Sets a flag of those slots that do not have it, all or none, which can be undone. */
export function FlagButton({ slots, flag, value, text, done, undone }: FlagButtonProps) {
  const { write, send } = useUpdateSlots(done, undone);
  const others = slots.filter((slot) => slot[flag] !== value);
  const set = () => void send(others, { case: flag, value }, () => ({ case: flag, value: !value }));
  const { taken, isChecking } = useTaken(flag === 'isActive' && value ? others.map((slot) => planOf(slot)) : []);
  const { ask, isWaiting, question } = useQuestion(taken, isChecking, text, set);
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
