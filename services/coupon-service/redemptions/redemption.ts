import { ValidationRefusal } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { type RedemptionSchema, RedemptionState } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { type HoldRow, toTimes } from '../../../shared/holds/hold.ts';
import { namesOf } from '../../../shared/holds/outcomes.ts';
import type { Answer } from '../../../shared/rpc/answers/answer.ts';

/** The redemption record (design 13). Amounts are decimals. */
export interface RedemptionRow extends HoldRow<'USED'> {
  couponId: number;
  userId: number;
  orderAmount: string;
  discountAmount: string;
}

/** A redemption is a hold of a use of a coupon. */
export const redemptionKind = {
  table: 'redemptions',
  resourceType: 'redemption',
  confirmed: 'USED',
  statePrefix: 'REDEMPTION_STATE_',
  ownColumns: `redemptions.coupon_id as "couponId", redemptions.user_id as "userId",
  redemptions.order_amount as "orderAmount", redemptions.discount_amount as "discountAmount"`,
  fixedFields: `'couponId', coupon_id, 'userId', user_id, 'orderKey', order_key`,
  ownFields: (row: string) =>
    `'orderAmount', ${row}.order_amount::text, 'discountAmount', ${row}.discount_amount::text`,
} as const;

/** Converts a record to a `Redemption`. */
export function toRedemption(row: RedemptionRow) {
  const { confirmedAt, state } = row;
  return {
    ...row,
    ...toTimes(row),
    state: RedemptionState[state],
    usedAt: confirmedAt?.getTime(),
  } satisfies Answer<typeof RedemptionSchema>;
}

/** The states that calls give redemptions, and the reasons of refusals. */
export const redemptionOutcomes = ['HELD', 'USED', 'RELEASED', ...namesOf(ValidationRefusal)];
