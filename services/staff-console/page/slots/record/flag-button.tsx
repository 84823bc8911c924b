import type { ReactNode } from 'react';
import { type PlannedSlot, SlotPlanService } from '../../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { useQuestion } from '../../forms/question.tsx';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { slotsInWords } from './slot-state.tsx';
import { planOf } from './taken.ts';
import { useTaken } from './use-taken.ts';

const { updateSlots } = SlotPlanService.method;

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
export function FlagButton({ slots, flag, value, text, done, undone }: FlagButtonProps): ReactNode {
  const about = 'The chosen slots';
  const back = useWrite(updateSlots, ({ changed }) => ({ text: `${slotsInWords(changed)} ${undone}` }), about);
  const write = useWrite(
    updateSlots,
    ({ slots: saved, changed }) => ({
      text: `${slotsInWords(changed)} ${done}`,
      undo: (): Promise<Undone> => back.send({ slots: saved, change: { case: flag, value: !value } }),
    }),
    about,
  );
  const others = slots.filter((slot) => slot[flag] !== value);
  const versions = others.map(({ id, etag }) => ({ id, etag }));
  const set = () => void write.send({ slots: versions, change: { case: flag, value } });
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
