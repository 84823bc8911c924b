import { BookingRefusal } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { BookingParts } from '../parts.ts';
import { announceRefresh } from '../stores/after-slot-write.ts';
import { refusalMessages } from './booking.ts';

/** Finishes a write of a booking: counts its outcome, and requests the store refresh if the write has scheduled one. */
export function finishBooking(
  parts: BookingParts,
  call: CallContext,
  outcome: string,
  storeRequestId: string | null,
): Promise<void> {
  if (storeRequestId !== null) announceRefresh(parts, call, storeRequestId);
  return parts.outcomes.countWrite(call, outcome);
}

/** Counts a refusal, and returns the fields of its answer. */
export async function refuse({ outcomes }: BookingParts, call: CallContext, refusal: BookingRefusal) {
  await outcomes.countRefusal(call, BookingRefusal[refusal]);
  return { refusal, message: refusalMessages[refusal] };
}
