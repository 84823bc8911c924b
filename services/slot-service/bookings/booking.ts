import {
  BookingRefusal,
  type SlotBookingSchema,
  SlotBookingState,
} from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { type HoldRow, toTimes } from '../../../shared/holds/hold.ts';
import { namesOf } from '../../../shared/holds/outcomes.ts';
import type { Answer } from '../../../shared/rpc/answers/answer.ts';

/** The booking record (design 15). */
export interface BookingRow extends HoldRow<'BOOKED'> {
  slotId: number;
  userId: number | null;
  units: number;
}

/** A booking is a hold of units of a slot. */
export const bookingKind = {
  table: 'slot_bookings',
  resourceType: 'booking',
  confirmed: 'BOOKED',
  statePrefix: 'SLOT_BOOKING_STATE_',
  ownColumns: 'slot_bookings.slot_id as "slotId", slot_bookings.user_id as "userId", slot_bookings.units',
  fixedFields: `'orderKey', order_key`,
  ownFields: (row: string) => `'slotId', ${row}.slot_id, 'userId', ${row}.user_id, 'units', ${row}.units`,
} as const;

/** Converts a record to a `SlotBooking`. */
export function toBooking(row: BookingRow) {
  const { userId, confirmedAt, state } = row;
  return {
    ...row,
    ...toTimes(row),
    userId: userId ?? undefined,
    state: SlotBookingState[state],
    bookedAt: confirmedAt?.getTime(),
  } satisfies Answer<typeof SlotBookingSchema>;
}

/** Why a slot takes no order, in the order of the rules: the words for people. */
export const refusalMessages: Readonly<Record<BookingRefusal, string>> = {
  [BookingRefusal.UNSPECIFIED]: '',
  [BookingRefusal.INACTIVE]: 'Slot is not active',
  [BookingRefusal.CLOSED]: 'Slot takes no more orders',
  [BookingRefusal.MARKED_FULL]: 'Slot is full',
  [BookingRefusal.NO_ROOM]: 'Slot has no room for this order',
};

/** The states that calls give bookings, and the reasons of refusals. */
export const bookingOutcomes = ['HELD', 'BOOKED', 'RELEASED', 'MOVED', ...namesOf(BookingRefusal)];
