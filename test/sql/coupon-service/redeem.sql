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
),
found as materialized (
  select room.*, $discountAmount::numeric is not null and not "hasConflict" and not "isLimitReached" and not "isUsedUp"
  and not exists (select from seen where user_id <> $userId or state = 'USED') as "mayWrite"
  from room
),
wanted (order_amount, discount_amount, state, held_until, used_at) as materialized (
  select trim_scale($orderAmount::numeric), trim_scale($discountAmount),
  case when false or $holdSeconds::integer = 0 then 'USED' else 'HELD' end,
  case when not false and $holdSeconds > 0 then statement_timestamp() + $holdSeconds * interval '1 second' end,
  case when false then seen.used_at when $holdSeconds = 0 then statement_timestamp() end
  from found left join seen on true where "mayWrite"
),
renewed as (
  update redemptions set (order_amount, discount_amount, state, held_until, used_at) = (select order_amount, discount_amount, state, held_until, used_at from wanted)
  from seen where exists (select from wanted) and redemptions.id = seen.id and redemptions.xmin = seen.xmin
  returning redemptions.*, redemptions.xmin
),
created as (
  insert into redemptions (coupon_id, user_id, order_key, created_at, order_amount, discount_amount, state, held_until, used_at)
  select $couponId, $userId, $orderKey, statement_timestamp(), order_amount, discount_amount, state, held_until, used_at
  from wanted where case when not exists (select from seen) then $keyId::bytea is null or is_new_key($keyId) else false end
  returning redemptions.*, redemptions.xmin
),
redemption_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'redemption', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (
    select id, null::json as before, json_strip_nulls(json_build_object(
        'couponId', coupon_id, 'userId', user_id, 'orderKey', order_key, 'createdAt', api_time(created_at),
        'orderAmount', created.order_amount::text, 'discountAmount', created.discount_amount::text, 'state', 'REDEMPTION_STATE_' || case when (created.state = 'HELD' and created.held_until <= statement_timestamp()) then 'EXPIRED' else created.state end, 'heldUntil', api_time(created.held_until),
        'usedAt', api_time(created.used_at), 'releasedAt', api_time(created.released_at)
    )) as after
    from created union all select id, before, after from (select id, json_build_object(
        'orderAmount', seen.order_amount::text, 'discountAmount', seen.discount_amount::text, 'state', 'REDEMPTION_STATE_' || case when (seen.state = 'HELD' and seen.held_until <= statement_timestamp()) then 'EXPIRED' else seen.state end, 'heldUntil', api_time(seen.held_until),
        'usedAt', api_time(seen.used_at), 'releasedAt', api_time(seen.released_at)) as old, json_build_object(
        'orderAmount', renewed.order_amount::text, 'discountAmount', renewed.discount_amount::text, 'state', 'REDEMPTION_STATE_' || case when (renewed.state = 'HELD' and renewed.held_until <= statement_timestamp()) then 'EXPIRED' else renewed.state end, 'heldUntil', api_time(renewed.held_until),
        'usedAt', api_time(renewed.used_at), 'releasedAt', api_time(renewed.released_at)) as new
      from seen join renewed using (id)) as records, lateral changed_fields(old, new) where before::text <> after::text offset 0) as changes
),
written as (select * from renewed union all select * from created),
kept as (
  select * from written
  union all select seen.* from seen, found where not "mayWrite"
)
select found.*,
redemptions.id, redemptions.order_key as "orderKey", redemptions.coupon_id as "couponId", redemptions.user_id as "userId",
redemptions.order_amount as "orderAmount", redemptions.discount_amount as "discountAmount", case when (redemptions.state = 'HELD' and redemptions.held_until <= statement_timestamp()) then 'EXPIRED' else redemptions.state end as state,
redemptions.held_until as "heldUntil", redemptions.created_at as "createdAt",
redemptions.used_at as "confirmedAt", redemptions.released_at as "releasedAt",
case when not exists (select from coupons where id = $couponId and xmin::text = $version) then refuse_lost_race() end
as "lostRace"
from found left join kept as redemptions on true
