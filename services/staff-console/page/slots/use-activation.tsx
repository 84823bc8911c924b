import { type SlotDetail, SlotService } from '#gen/slot/v1/slot_service_pb';
import { useQuestion } from '../forms/question.tsx';
import type { Failure } from '../rpc/failure.ts';
import type { Undone } from '../rpc/notices.ts';
import { useWrite } from '../rpc/write.ts';
import { words } from '../words.ts';
import type { LiveBookings } from './bookings/live-bookings.ts';
import { draftOf, emptyConcerns, unchanged } from './record/slot-draft.ts';
import { plansOf, useTaken } from './record/use-taken.ts';

const text = words.slot;

interface ActivationProps {
  readonly id: number;
  /** Undefined until it is read. */
  readonly slot: SlotDetail | undefined;
  /** Who has booked it. */
  readonly live: LiveBookings;
  /** Reads the slot as it is now. */
  readonly read: () => Promise<SlotDetail | undefined>;
}

/**
 * Lets staff deactivate a slot, which can be undone, or activate it again, after a question if it looks like a mistake.
 *
 * @returns the action, and the question to render.
 */
export function useActivation({ id, slot, live, read }: ActivationProps) {
  const activation = useWrite(
    SlotService.method.updateSlot,
    () => ({ text: text.activated(id) }),
    words.slots.slot(id),
  );
  const deactivation = useWrite(
    SlotService.method.deleteSlot,
    () => ({
      text: text.deactivated(id),
      undo: async (): Promise<Undone> => {
        const now = await read();
        return now === undefined ? { failure: { title: text.unread } } : activation.send(activeAgain(now));
      },
    }),
    words.slots.slot(id),
  );
  const isActive = slot?.isActive ?? true;
  const { taken, isChecking } = useTaken(slot === undefined || isActive ? [] : plansOf(draftOf(slot), id));
  const ofActivation = [...taken, ...emptyConcerns(slot?.productSlots ?? [], slot?.groupIds ?? [])];
  const ofDeactivation = live.customers > 0 ? [text.concerns.booked(live.customers)] : [];
  const action = isActive ? words.slots.off.text : text.activate;
  // If somebody else changed the slot first, staff see the change before they press again.
  const readIfChanged = (sent: { readonly failure?: Failure | undefined }) =>
    sent.failure?.reason === 'ETAG_MISMATCH' ? read() : undefined;
  const go = () => {
    if (slot === undefined) return;
    const sent = isActive ? deactivation.send({ id, etag: slot.etag }) : activation.send(activeAgain(slot));
    void sent.then(readIfChanged);
  };
  const [concerns, isWaiting] = isActive ? [ofDeactivation, live.isCounting] : [ofActivation, isChecking];
  const { ask, question } = useQuestion(concerns, isWaiting, action, go);
  return { action: { name: action, run: ask }, question };
}

function activeAgain(slot: SlotDetail) {
  return { ...unchanged(slot), isActive: true };
}
