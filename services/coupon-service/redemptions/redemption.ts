import { statement } from '../../../shared/db/statement.ts';
import { type RedemptionSchema, RedemptionState } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import type { Answer } from '../../../shared/rpc/answers/answer.ts';

export type StateName = 'HELD' | 'USED' | 'RELEASED' | 'EXPIRED';

/** The redemption record (design 13). Amounts are decimals. */
export interface RedemptionRow {
  id: number;
  couponId: number;
  userId: number;
  orderKey: string;
  orderAmount: string;
  discountAmount: string;
  /** As of the statement: a hold that has run out is EXPIRED. */
  state: StateName;
  heldUntil: Date | null;
  createdAt: Date;
  usedAt: Date | null;
  releasedAt: Date | null;
}

// SQL on a row of redemptions. The time is the statement's, because a transaction may have begun earlier.

/** SQL of whether the hold of a row has run out, although the row does not say so yet. */
export const isRunOut = (row: string) => `(${row}.state = 'HELD' and ${row}.held_until <= statement_timestamp())`;
/** SQL of whether a row is a live redemption. It names the states first, for the indexes. */
export const isLive = (row: string) =>
  `(${row}.state in ('HELD', 'USED') and (${row}.state = 'USED' or ${row}.held_until > statement_timestamp()))`;
/** SQL of the state of a row, as callers see it. */
export const stateOf = (row: string) => `case when ${isRunOut(row)} then 'EXPIRED' else ${row}.state end`;

/** SQL of the columns of `RedemptionRow`. */
export const redemptionColumns = `
  redemptions.id, redemptions.coupon_id as "couponId", redemptions.user_id as "userId",
  redemptions.order_key as "orderKey", redemptions.order_amount as "orderAmount",
  redemptions.discount_amount as "discountAmount", ${stateOf('redemptions')} as state,
  redemptions.held_until as "heldUntil", redemptions.created_at as "createdAt", redemptions.used_at as "usedAt",
  redemptions.released_at as "releasedAt"`;

/** Returns SQL of the audited fields of a row that a redemption can change. */
export const changingFields = (row: string) => `
  'orderAmount', ${row}.order_amount::text, 'discountAmount', ${row}.discount_amount::text,
  'state', 'REDEMPTION_STATE_' || ${stateOf(row)}, 'heldUntil', api_time(${row}.held_until),
  'usedAt', api_time(${row}.used_at), 'releasedAt', api_time(${row}.released_at)`;

/** Converts a record to a `Redemption`. */
export function toRedemption(row: RedemptionRow) {
  return {
    ...row,
    state: RedemptionState[row.state],
    heldUntil: row.heldUntil?.getTime(),
    createdAt: row.createdAt.getTime(),
    usedAt: row.usedAt?.getTime(),
    releasedAt: row.releasedAt?.getTime(),
  } satisfies Answer<typeof RedemptionSchema>;
}

/** Marks holds that have run out, which count as such already (design 13). Returns the number of marked redemptions. */
export const sweepHolds = statement<{ swept: number }, { most: number }>(
  'sweepHolds',
  `with oldest as (
     select id from redemptions where ${isRunOut('redemptions')}
     order by held_until limit $most::integer for no key update skip locked
   ),
   swept as (update redemptions set state = 'EXPIRED' from oldest where redemptions.id = oldest.id returning 1)
   select count(*)::integer as swept from swept`,
);
