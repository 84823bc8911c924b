with seen as materialized (
  select *, xmin from redemptions
  where order_key = $orderKey::text and coupon_id = $couponId::integer and (redemptions.state in ('HELD', 'USED') and (redemptions.state = 'USED' or redemptions.held_until > statement_timestamp()))
),
asked as (
  select $couponId as coupon_id, $userId::integer as user_id, $orderKey as order_key, $isExclusive::boolean as is_exclusive,
  $maxUsesOfUser::integer as max_uses_of_user, $maxUses::integer as max_uses, (select id from seen) as own_id
),
left_of as materialized (
  select asked.*, case when user_id is not null and max_uses_of_user > 0 then greatest(0, max_uses_of_user - (
      select count(*) from redemptions
      where (coupon_id, user_id) = (asked.coupon_id, asked.user_id) and (redemptions.state in ('HELD', 'USED') and (redemptions.state = 'USED' or redemptions.held_until > statement_timestamp()))
      and id is distinct from own_id
  ))::integer end as "usesLeftForUser",
  case when max_uses > 0 then greatest(0, max_uses::bigint + (own_id is not null)::integer - (
      (select coalesce(sum(held + used), 0) from coupon_usage where coupon_id = asked.coupon_id)
      - (select count(*) from redemptions where coupon_id = asked.coupon_id and (state = 'HELD' and held_until at time zone 'UTC' <= statement_timestamp() at time zone 'UTC'))
  ))::integer end as "usesLeft"
  from asked
),
room as materialized (
  select "usesLeftForUser", "usesLeft", case when order_key is not null then exists (
    select from redemptions left join coupons on coupons.id = redemptions.coupon_id
    where redemptions.order_key = left_of.order_key and redemptions.coupon_id <> left_of.coupon_id
    and (redemptions.state in ('HELD', 'USED') and (redemptions.state = 'USED' or redemptions.held_until > statement_timestamp())) and (is_exclusive or exclusive_apply)
  ) end as "hasConflict",
  max_uses_of_user > 0 and "usesLeftForUser" = 0 as "isLimitReached", max_uses > 0 and "usesLeft" = 0 as "isUsedUp"
  from left_of
) select room.*, (select user_id from seen) as "ownUserId" from room
