import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type Redemption, RedemptionState } from '../../../../shared/gen/coupon/v1/redemption_service_pb.ts';

/** The states of a redemption, each in a word or two (design 13). */
export const redemptionStates = [
  { state: RedemptionState.HELD, words: 'Held', kind: 'plain' },
  { state: RedemptionState.USED, words: 'Used', kind: 'good' },
  { state: RedemptionState.RELEASED, words: 'Released', kind: 'plain' },
  { state: RedemptionState.EXPIRED, words: 'Run out', kind: 'bad' },
] as const;

/** Returns the state of a redemption at a time in Unix ms: a hold runs out while the page is open, too. */
export function stateOf({ state, heldUntil }: Redemption, now: number) {
  const hasRunOut = state === RedemptionState.HELD && heldUntil !== undefined && timestampMs(heldUntil) <= now;
  return redemptionStates.find((each) => each.state === (hasRunOut ? RedemptionState.EXPIRED : state));
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
