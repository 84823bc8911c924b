import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type ListBookingsResponse,
  type SlotBooking,
  SlotBookingService,
  SlotBookingState,
} from '#gen/slot/v1/slot_booking_service_pb';
import { useNow } from '../../business/time.tsx';
import { useRows } from '../../lists/source.ts';

const rowsOf = ({ bookings }: ListBookingsResponse) => bookings;

/** What of bookings is asked for. */
export interface BookingsOf {
  readonly slotId?: number;
  readonly orderKey?: string;
  readonly userId?: number;
  readonly states: SlotBookingState[];
}

/** Returns the list of bookings, newest first. */
export function bookingsOf(asked: BookingsOf) {
  const request = { ...asked, limit: 1_000 };
  return { method: SlotBookingService.method.listBookings, request, rowsOf };
}

/** The states in which a booking has units of a slot. */
export const liveStates = [SlotBookingState.HELD, SlotBookingState.BOOKED];

/** Whether a booking has units of its slot at a time in Unix ms: a hold runs out while the page is open, too. */
export function isLive({ state, heldUntil }: SlotBooking, now: number): boolean {
  return liveStates.includes(state) && (heldUntil === undefined || timestampMs(heldUntil) > now);
}

/** The bookings that have units of a slot. */
export type LiveBookings = ReturnType<typeof useLiveBookings>;

/** Reads the bookings that have units of a slot, and counts their customers, and their units, held ones included. */
export function useLiveBookings(slotId: number) {
  const now = useNow(20_000);
  const { rows, isReading, error } = useRows(bookingsOf({ slotId, states: liveStates }), true);
  const bookings = rows?.filter((booking) => isLive(booking, now)) ?? [];
  return {
    bookings,
    // Of an order without a customer, only the order is known.
    customers: new Set(bookings.map(({ userId, orderKey }) => userId ?? orderKey)).size,
    units: unitsOf(bookings),
    held: unitsOf(bookings.filter(({ state }) => state === SlotBookingState.HELD)),
    isCounting: error === null && (rows === undefined || isReading),
    error,
  };
}

/** Sums up the units of bookings. */
export const unitsOf = (bookings: readonly SlotBooking[]) => bookings.reduce((sum, { units }) => sum + units, 0);
