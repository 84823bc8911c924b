import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type Redemption, RedemptionState } from '../../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { type SlotBooking, SlotBookingState } from '../../../../shared/gen/slot/v1/slot_booking_service_pb.ts';

/** The states of a redemption, each in a word or two (design 13). */
export const redemptionStates = [
  { state: RedemptionState.HELD, words: 'Held', kind: 'plain' },
  { state: RedemptionState.USED, words: 'Used', kind: 'good' },
  { state: RedemptionState.RELEASED, words: 'Released', kind: 'plain' },
  { state: RedemptionState.EXPIRED, words: 'Run out', kind: 'bad' },
] as const;

/** The states of a booking, each in a word or two (design 15). */
export const bookingStates = [
  { state: SlotBookingState.HELD, words: 'Held', kind: 'plain' },
  { state: SlotBookingState.BOOKED, words: 'Booked', kind: 'good' },
  { state: SlotBookingState.RELEASED, words: 'Released', kind: 'plain' },
  { state: SlotBookingState.EXPIRED, words: 'Run out', kind: 'bad' },
] as const;

/** A state of a redemption or a booking, in words. */
export type HoldState = (typeof redemptionStates | typeof bookingStates)[number];

/** Returns the state of a redemption at a time in Unix ms: a hold runs out while the page is open, too. */
export function stateOf(redemption: Redemption, now: number): HoldState | undefined {
  return stateIn(redemptionStates, redemption, now);
}

/** Like `stateOf`, for a booking. */
export function bookingStateOf(booking: SlotBooking, now: number): HoldState | undefined {
  return stateIn(bookingStates, booking, now);
}

function stateIn(states: readonly HoldState[], { state, heldUntil }: Redemption | SlotBooking, now: number) {
  // Only what is held or has run out has the end of a hold.
  const hasRunOut = heldUntil !== undefined && timestampMs(heldUntil) <= now;
  return states.find((each) => (hasRunOut ? each.words === 'Run out' : each.state === state));
}

/**
 * Describes a state of a redemption or a booking by its name in the audit trail, such as `REDEMPTION_STATE_USED`. An
 * unknown name stays as it is.
 */
export function describeStateName(name: string): string {
  if (name === 'SLOT_BOOKING_STATE_BOOKED') return 'Booked';
  const ofRedemption = name.replace('SLOT_BOOKING_STATE_', 'REDEMPTION_STATE_');
  const found = redemptionStates.find(({ state }) => ofRedemption === `REDEMPTION_STATE_${RedemptionState[state]}`);
  return found?.words ?? name;
}
