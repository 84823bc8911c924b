import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type Redemption, RedemptionState } from '#gen/coupon/v1/redemption_service_pb';
import { type SlotBooking, SlotBookingState } from '#gen/slot/v1/slot_booking_service_pb';
import { words } from '../words.ts';

const text = words.orders.states;

/** The states of a redemption, each in a word or two (design 13). */
export const redemptionStates = [
  { state: RedemptionState.HELD, words: text.held, kind: 'plain' },
  { state: RedemptionState.USED, words: text.used, kind: 'good' },
  { state: RedemptionState.RELEASED, words: text.returned, kind: 'plain' },
  { state: RedemptionState.EXPIRED, words: text.expired, kind: 'plain' },
] as const;

/** Returns the state of a redemption or a booking at a time in Unix ms: a hold runs out while the page is open, too. */
export function stateOf(hold: Redemption | SlotBooking, now: number) {
  const isBooking = hold.$typeName === 'slot.v1.SlotBooking';
  if (isBooking && hold.state === SlotBookingState.BOOKED) return { words: text.booked, kind: 'good' } as const;
  if (isBooking && hold.state === SlotBookingState.RELEASED) return { words: text.canceled, kind: 'plain' } as const;
  // Only what is held or has run out has the end of a hold. The other states of both have the same numbers.
  const hasRunOut = hold.heldUntil !== undefined && timestampMs(hold.heldUntil) <= now;
  const state: number = hasRunOut ? RedemptionState.EXPIRED : hold.state;
  return redemptionStates.find((each) => each.state === state);
}

/**
 * Describes a state of a redemption or a booking by its name in the audit trail, such as `REDEMPTION_STATE_USED`. An
 * unknown name stays as it is.
 */
export function describeStateName(name: string): string {
  if (name === 'SLOT_BOOKING_STATE_BOOKED') return text.booked;
  if (name === 'SLOT_BOOKING_STATE_RELEASED') return text.canceled;
  const ofRedemption = name.replace('SLOT_BOOKING_STATE_', 'REDEMPTION_STATE_');
  const found = redemptionStates.find(({ state }) => ofRedemption === `REDEMPTION_STATE_${RedemptionState[state]}`);
  return found?.words ?? name;
}
