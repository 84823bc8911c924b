import type { ReactNode } from 'react';
import { SlotService } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/page.tsx';

interface CapacityButtonProps {
  /** Set while the slot is edited: the button would change its etag, as if somebody else had changed the slot. */
  readonly isDisabled?: boolean;
  readonly slot: { readonly id: number; readonly isCapacityFull: boolean };
}

/** Marks a slot as full or open, which can be undone. Needs no guard: the result is the same whoever taps first. */
export function CapacityButton({ slot, isDisabled = false }: CapacityButtonProps): ReactNode {
  const capacity = useWrite(SlotService.method.updateSlotCapacity, ({ message, slot: now }) => ({
    text: `Slot ${slot.id}: ${message}`,
    undo: (): Promise<Undone> => capacity.send({ slotId: slot.id, isCapacityFull: !now?.isCapacityFull }),
  }));
  const isCapacityFull = !slot.isCapacityFull;
  const text = capacity.isPending ? 'Saving…' : isCapacityFull ? 'Mark full' : 'Open again';
  return (
    <>
      <Button
        isPending={capacity.isPending}
        isDisabled={isDisabled}
        onPress={() => void capacity.send({ slotId: slot.id, isCapacityFull })}
        aria-label={`${text}: slot ${slot.id}`}
      >
        {text}
      </Button>
      {capacity.failure !== undefined && <Problem failure={capacity.failure} />}
    </>
  );
}
