import { statement } from '../../../shared/db/statement.ts';
import { isLive as isLiveOf, isRunOutByOwner } from '../../../shared/holds/hold.ts';
import type { CouponForOrder } from './order.ts';
import { redemptionKind } from './redemption.ts';

const isLive = isLiveOf(redemptionKind);

/** What is left of a coupon for a redemption, and why there may be no room for it. */
export interface Room {
  /** Null: the order is not said. */
  hasConflict: boolean | null;
  /** Null: the user is not said, and the coupon asks. */
  isLimitReached: boolean | null;
  isUsedUp: boolean;
  /** Null: there is no such limit, or the user is not said. */
  usesLeftForUser: number | null;
  usesLeft: number | null;
}

/**
 * SQL of how many live redemptions a coupon has. `coupon_usage` counts holds that have run out until a sweep marks them,
 * so they are taken off again.
 */
export const liveUses = (couponId: string) => `
        (select coalesce(sum(held + used), 0) from coupon_usage where coupon_id = ${couponId})
        - (select count(*) from redemptions where coupon_id = ${couponId} and ${isRunOutByOwner})`;

/**
 * SQL of a common table expression `room` with the columns of `Room` (design 13, 16): whether a redemption may become or
 * stay live. It is exact while the locks of `lockRoom` are held.
 *
 * It reads `asked`, one row with `coupon_id`, `user_id`, `order_key`, the coupon's `max_uses_of_user`, `max_uses` and
 * `is_exclusive`, and `own_id`, the id of the order's own live redemption, which does not count; null for none.
 */
export const room = `
  left_of as materialized (
    select asked.*, case when user_id is not null and max_uses_of_user > 0 then greatest(0, max_uses_of_user - (
        select count(*) from redemptions
        where (coupon_id, user_id) = (asked.coupon_id, asked.user_id) and ${isLive}
          and id is distinct from own_id
      ))::integer end as "usesLeftForUser",
      case when max_uses > 0 then greatest(0, max_uses::bigint + (own_id is not null)::integer - (
        ${liveUses('asked.coupon_id')}
      ))::integer end as "usesLeft"
    from asked
  ),
  room as materialized (
    select "usesLeftForUser", "usesLeft", case when order_key is not null then exists (
        select from redemptions left join coupons on coupons.id = redemptions.coupon_id
        where redemptions.order_key = left_of.order_key and redemptions.coupon_id <> left_of.coupon_id
          and ${isLive} and (is_exclusive or exclusive_apply)
      ) end as "hasConflict",
      max_uses_of_user > 0 and "usesLeftForUser" = 0 as "isLimitReached", max_uses > 0 and "usesLeft" = 0 as "isUsedUp"
    from left_of
  )`;

/**
 * The same for a coupon and an order, with the order's own live redemption as `seen`. Reads the parameters of `AskedRoom`.
 */
export const roomOfOrder = `seen as materialized (
    select *, xmin from redemptions
    where order_key = $orderKey::text and coupon_id = $couponId::integer and ${isLive}
  ),
  asked as (
    select $couponId as coupon_id, $userId::integer as user_id, $orderKey as order_key, $isExclusive::boolean as is_exclusive,
      $maxUsesOfUser::integer as max_uses_of_user, $maxUses::integer as max_uses, (select id from seen) as own_id
  ),
  ${room}`;

/** What `roomOfOrder` reads. Undefined: the request does not say it. */
export interface AskedRoom extends Pick<CouponForOrder, 'isExclusive' | 'maxUsesOfUser' | 'maxUses'> {
  couponId: number;
  userId: number | undefined;
  orderKey: string | undefined;
}

/** SQL of whether the row `room` has room. */
export const hasRoom = 'not "hasConflict" and not "isLimitReached" and not "isUsedUp"';

// All calls lock the order key first, then the uses of the user, and then those of all. Otherwise two calls could deadlock.
const locks = (orderKey: string, couponId: string, userId: string) => `
  select pg_advisory_xact_lock(hashtext(own_name('redemptions of an order')), hashtext(${orderKey})),
    pg_advisory_xact_lock(hashtext(own_name('uses of a coupon')), hashtext(${couponId} || ' ' || ${userId}))`;

const lockOfAllUses = (couponId: string, maxUses: string) => {
  const key = `hashtext(own_name('all uses of a coupon')), ${couponId}`;
  return `case when ${maxUses} > 0 then pg_advisory_xact_lock(${key}) else pg_advisory_xact_lock_shared(${key}) end`;
};

/**
 * Goes before the statement that counts and writes, in one round trip. It serializes the writers of an order key, those of
 * a coupon and user, and those of a coupon with a limit of all users, so that each sees what the one before has written.
 * Writers of a coupon without this limit share the last lock: once there is one, whoever counts by it waits for them. The
 * locks end with the transaction.
 */
export const lockRoom = statement<never, { orderKey: string; couponId: number; userId: number; maxUses: number }>(
  'lockRoom',
  `${locks('$orderKey::text', '$couponId::text', '$userId::text')},
    ${lockOfAllUses('$couponId::integer', '$maxUses::integer')}`,
);

/** The same for a redemption that exists: what goes before. */
export const locksOfRoom = (params: { readonly id: number }) => [lockRoomOf(params), lockAllUsesOf(params)];

const lockRoomOf = statement<never, { id: number }>(
  'lockRoomOf',
  `${locks('order_key', 'coupon_id', 'user_id')} from redemptions where id = $id`,
);
// A live hold is counted already, so it does not need this lock. It must not run out before it is written, however long that
// waits: one that might takes the lock, too. A second statement, because the first one may wait for a Redeem that renews the hold.
const lockAllUsesOf = statement<never, { id: number }>(
  'lockAllUsesOf',
  `select ${lockOfAllUses('coupon_id', 'max_uses')} from redemptions left join coupons on coupons.id = coupon_id
   where redemptions.id = $id and held_until <= statement_timestamp() + interval '1 minute'`,
);
