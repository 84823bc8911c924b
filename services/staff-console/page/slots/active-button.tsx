import type { ReactNode } from 'react';
import { type SlotDetail, SlotService } from '../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { useQuestion } from '../forms/question.tsx';
import type { Failure } from '../rpc/failure.ts';
import type { Undone } from '../rpc/notices.ts';
import { useWrite } from '../rpc/write.ts';
import { Button } from '../ui/button.tsx';
import { draftOf, emptyConcerns, unchanged } from './record/slot-draft.ts';
import { plansOf, useTaken } from './record/use-taken.ts';

interface ActiveButtonProps {
  readonly slot: SlotDetail;
  /** Set while the slot is edited: the button would change its etag, as if somebody else had changed the slot. */
  readonly isDisabled: boolean;
  /** Reads the slot as it is now. */
  readonly read: () => Promise<SlotDetail | undefined>;
}

/** Deactivates a slot, which can be undone, or activates it again. */
export function ActiveButton({ slot, isDisabled, read }: ActiveButtonProps): ReactNode {
  const name = `Slot ${slot.id}`;
  const activation = useWrite(SlotService.method.updateSlot, () => ({ text: `Slot ${slot.id} is active again` }), name);
  const deactivation = useWrite(
    SlotService.method.deleteSlot,
    () => ({
      text: `Slot ${slot.id} is deactivated. The list shows it with “State: deactivated”`,
      undo: async (): Promise<Undone> => {
        const now = await read();
        return now === undefined ? { failure: { title: 'The slot can’t be read' } } : activation.send(activeAgain(now));
      },
    }),
    name,
  );
  const { taken, isChecking } = useTaken(slot.isActive ? [] : plansOf(draftOf(slot), slot.id));
  const concerns = [...taken, ...emptyConcerns(slot.productSlots, slot.groupIds)];
  const activate = () => void activation.send(activeAgain(slot)).then(readIfChanged);
  const { ask, isWaiting, question } = useQuestion(concerns, isChecking, 'Activate again', activate);
  const isPending = slot.isActive ? deactivation.isPending : activation.isPending || isWaiting;
  // If somebody else changed the slot first, staff see the change before they press again.
  const readIfChanged = (sent: { readonly failure?: Failure | undefined }) =>
    sent.failure?.reason === 'ETAG_MISMATCH' ? read() : undefined;
  return slot.isActive ? (
    <Button
      emphasis="danger"
      isPending={isPending}
      isDisabled={isDisabled}
      onPress={() => void deactivation.send({ id: slot.id, etag: slot.etag }).then(readIfChanged)}
    >
      Deactivate
    </Button>
  ) : (
    <>
      <Button isPending={isPending} isDisabled={isDisabled} onPress={ask}>
        Activate again
      </Button>
      {question}
    </>
  );
}

function activeAgain(slot: SlotDetail) {
  return { ...unchanged(slot), isActive: true };
}
