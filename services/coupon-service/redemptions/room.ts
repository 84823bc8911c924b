import { statement } from '../../../shared/db/statement.ts';
import { isLive as isLiveOf } from '../../../shared/holds/hold.ts';
import { redemptionKind } from './redemption.ts';

const isLive = isLiveOf(redemptionKind);

/**
 * SQL of a common table expression `room`: whether a redemption may become or stay live (design 13). It has one row
 * with `hasConflict`, if the order has a coupon that can't be combined with this one, and `isLimitReached`.
 *
 * It reads `asked`, one row with `coupon_id`, `user_id`, `order_key`, the coupon's `max_uses` and `is_exclusive`, and
 * `own_id`, the id of the redemption itself, which does not count; null for a new one. The locks of `lockRoom` must be
 * held.
 */
export const room = `
  room as materialized (
    select
      exists (
        select from redemptions left join coupons on coupons.id = redemptions.coupon_id
        where redemptions.order_key = asked.order_key and redemptions.coupon_id <> asked.coupon_id
          and ${isLive} and (is_exclusive or exclusive_apply)
      ) as "hasConflict",
      max_uses > 0 and max_uses <= (
        select count(*) from redemptions
        where (coupon_id, user_id) = (asked.coupon_id, asked.user_id) and ${isLive}
          and id is distinct from own_id
      ) as "isLimitReached"
    from asked
  )`;

// All calls lock the order key first, and then the uses. Otherwise two calls could deadlock.
const locks = (orderKey: string, couponId: string, userId: string) => `
  select pg_advisory_xact_lock(hashtext(own_name('redemptions of an order')), hashtext(${orderKey})),
    pg_advisory_xact_lock(hashtext(own_name('uses of a coupon')), hashtext(${couponId} || ' ' || ${userId}))`;

/**
 * Goes before the statement that counts and writes, in one round trip. It serializes the writers of an order key, and
 * those of a coupon and user, so that each sees what the one before has written. The locks end with the transaction.
 */
export const lockRoom = statement<never, { orderKey: string; couponId: number; userId: number }>(
  'lockRoom',
  locks('$orderKey::text', '$couponId::text', '$userId::text'),
);
/** The same for a redemption that exists. */
export const lockRoomOf = statement<never, { id: number }>(
  'lockRoomOf',
  `${locks('order_key', 'coupon_id', 'user_id')} from redemptions where id = $id`,
);
