import { statement } from '../../../shared/db/statement.ts';
import { isLive, isRunOut } from './redemption.ts';

// SQL of what a redemption needs to become or stay live: the room that its coupon's limit and its order leave (design 13).
//
// A statement sees the database as of its start, and two at once may see the same room. Both then choose the same place, or
// take the same turn of the order, and one of them violates a unique index. So a write that makes a redemption live, or
// keeps it so, takes the order's next turn. It takes the lowest place that no live redemption has. Where `n` of the user's
// live redemptions have no place within the limit, fewer than limit - n places are taken when it chooses, so no place above
// limit - n is ever chosen.

/**
 * SQL of common table expressions. `room` has one row: `isExclusive`, `isLimitReached`, and the `place` and `turn` to take.
 *
 * It reads `asked`, one row with `coupon_id`, `user_id`, `order_key`, the coupon's `max_uses` and `is_exclusive`, and
 * `own_id`, the id of the redemption itself, which does not count; null for a new one.
 */
export const room = `
  uses as materialized (
    select redemptions.id, place, ${isLive('redemptions')} as is_live
    from asked join redemptions using (coupon_id, user_id)
    where max_uses > 0 and state in ('HELD', 'USED') and redemptions.id is distinct from own_id
  ),
  room as materialized (
    select
      exists (
        select from redemptions left join coupons on coupons.id = redemptions.coupon_id
        where redemptions.order_key = asked.order_key and redemptions.coupon_id <> asked.coupon_id
          and ${isLive('redemptions')} and (is_exclusive or exclusive_apply)
      ) as "isExclusive",
      max_uses > 0 and (select count(*) from uses where is_live) >= max_uses as "isLimitReached",
      case when max_uses > 0 then (
        select min(free.place) from (values (1) union all select place + 1 from uses where is_live) as free (place)
        where not exists (select from uses where is_live and uses.place = free.place)
      ) end as place,
      coalesce((select max(turn) from redemptions where order_key = asked.order_key), 0) + 1 as turn
    from asked
  )`;

/**
 * SQL of a common table expression that marks the hold that has run out and still has the place to take. A write has to
 * read it before it takes the place. It reads `found`, one row with `mayWrite` and the `place`.
 */
export const freed = `
  freed as (
    update redemptions set state = 'EXPIRED' from uses, found
    where "mayWrite" and redemptions.id = uses.id and not uses.is_live and uses.place = found.place
      and ${isRunOut('redemptions')}
    returning redemptions.id
  )`;

// Those that have lost a race run one at a time: the writers of an order, and those of a user's uses of a coupon.
const locks = (orderKey: string, couponId: string, userId: string) => `
  select pg_advisory_xact_lock(hashtext('redemptions of an order'), hashtext(${orderKey})),
    pg_advisory_xact_lock(hashtext('uses of a coupon'), hashtext(${couponId} || ' ' || ${userId}))`;

/** Makes the losers of a race for a new redemption run one at a time, until their transactions end. */
export const lockRoom = statement<never, { orderKey: string; couponId: number; userId: number }>(
  'lockRoom',
  locks('$orderKey::text', '$couponId::text', '$userId::text'),
);
/** The same for a redemption that exists. */
export const lockRoomOf = statement<never, { id: number }>(
  'lockRoomOf',
  `${locks('order_key', 'coupon_id', 'user_id')} from redemptions where id = $id`,
);
