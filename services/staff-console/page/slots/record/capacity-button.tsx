import { SlotService } from '#gen/slot/v1/slot_service_pb';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { ordersClose, type SlotState } from './slot-state.tsx';

interface CapacityButtonProps {
  /** Set while the slot is edited: the button would change its etag, as if somebody else had changed the slot. */
  readonly isDisabled?: boolean;
  readonly slot: SlotState & { readonly id: number };
  /** In Unix ms. */
  readonly now: number;
}

/**
 * Marks a slot as full or open, which can be undone. Needs no guard: the result is the same whoever taps first. A slot
 * that takes no orders anyway has no button.
 */
export function CapacityButton({ slot, now, isDisabled = false }: CapacityButtonProps) {
  const capacity = useWrite(
    SlotService.method.updateSlotCapacity,
    ({ message, slot: saved }) => ({
      text: `Slot ${slot.id}: ${message}`,
      undo: (): Promise<Undone> => capacity.send({ slotId: slot.id, isCapacityFull: !saved?.isCapacityFull }),
    }),
    `Slot ${slot.id}`,
  );
  if (!slot.isActive || ordersClose(slot, now) === undefined) return null;
  const isCapacityFull = !slot.isCapacityFull;
  const text = capacity.isPending ? 'Saving…' : isCapacityFull ? 'Mark full' : 'Open again';
  return (
    <Button
      isPending={capacity.isPending}
      isDisabled={isDisabled}
      onPress={() => void capacity.send({ slotId: slot.id, isCapacityFull })}
      aria-label={`${text}: slot ${slot.id}`}
    >
      {text}
    </Button>
  );
}
