import { randomUUID } from 'node:crypto';
import { enumToJson, fromJson, type JsonObject, type JsonValue } from '@bufbuild/protobuf';
import {
  BookResponseSchema,
  ConfirmResponseSchema,
  GetAvailabilityResponseSchema,
  ReleaseResponseSchema,
  type SlotBooking,
  SlotBookingState,
  SlotBookingStateSchema,
} from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import type { Outcome } from './outcome.ts';

/**
 * Holds a unit of a slot for an order, confirms it, and gives it back.
 *
 * @param call makes a call of SlotBookingService, and resolves with its answer.
 */
export async function bookSlot(
  slotId: number | undefined,
  call: (name: string, request: JsonObject) => Promise<JsonValue>,
): Promise<Pick<Outcome, 'remaining' | 'states'>> {
  const slot = { slotId: slotId ?? 0 };
  const available = fromJson(GetAvailabilityResponseSchema, await call('GetAvailability', { slotIds: [slot.slotId] }));
  const held = fromJson(BookResponseSchema, await call('Book', { ...slot, orderKey: randomUUID() }));
  const bookingId = held.booking?.id ?? 0;
  const paid = fromJson(ConfirmResponseSchema, await call('Confirm', { bookingId }));
  const canceled = fromJson(ReleaseResponseSchema, await call('Release', { bookingId }));
  const stateOf = (booking: SlotBooking | undefined) =>
    String(enumToJson(SlotBookingStateSchema, booking?.state ?? SlotBookingState.UNSPECIFIED));
  return {
    remaining: [available.slots[0]?.remaining, held.remaining].map((units) => units ?? -1),
    states: [held, paid, canceled].map(({ booking }) => stateOf(booking)),
  };
}
