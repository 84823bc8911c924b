with seen as materialized (
  select *, case when (redemptions.state = 'HELD' and redemptions.held_until <= statement_timestamp()) then 'EXPIRED' else redemptions.state end as current_state, xmin from redemptions where id = $id
),
asked as (
  select coupon_id, user_id, order_key, coalesce(max_limit_for_user, 0) as max_uses_of_user,
  coalesce(max_uses, 0) as max_uses, coalesce(exclusive_apply, false) as is_exclusive, null::integer as own_id
  from seen left join coupons on coupons.id = coupon_id
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
  select current_state = 'HELD' or current_state = 'EXPIRED' and not "hasConflict" and not "isLimitReached" and not "isUsedUp" and not exists (
    select from redemptions
    where order_key = seen.order_key and coupon_id = seen.coupon_id and (redemptions.state in ('HELD', 'USED') and (redemptions.state = 'USED' or redemptions.held_until > statement_timestamp()))
  ) as "mayWrite"
  from seen, room
),
written as (
  update redemptions set state = 'USED', used_at = statement_timestamp(), held_until = null
  from seen, found where "mayWrite" and redemptions.id = seen.id and redemptions.xmin = seen.xmin
  returning redemptions.*
),
redemption_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'redemption', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, before, after from (select id, json_build_object(
        'orderAmount', seen.order_amount::text, 'discountAmount', seen.discount_amount::text, 'state', 'REDEMPTION_STATE_' || case when (seen.state = 'HELD' and seen.held_until <= statement_timestamp()) then 'EXPIRED' else seen.state end, 'heldUntil', api_time(seen.held_until),
        'usedAt', api_time(seen.used_at), 'releasedAt', api_time(seen.released_at)) as old, json_build_object(
        'orderAmount', written.order_amount::text, 'discountAmount', written.discount_amount::text, 'state', 'REDEMPTION_STATE_' || case when (written.state = 'HELD' and written.held_until <= statement_timestamp()) then 'EXPIRED' else written.state end, 'heldUntil', api_time(written.held_until),
        'usedAt', api_time(written.used_at), 'releasedAt', api_time(written.released_at)) as new
      from seen join written using (id)) as records, lateral changed_fields(old, new) where before::text <> after::text offset 0) as changes
)
select coalesce("mayWrite", false) as "mayWrite",
redemptions.id, redemptions.order_key as "orderKey", redemptions.coupon_id as "couponId", redemptions.user_id as "userId",
redemptions.order_amount as "orderAmount", redemptions.discount_amount as "discountAmount", case when (redemptions.state = 'HELD' and redemptions.held_until <= statement_timestamp()) then 'EXPIRED' else redemptions.state end as state,
redemptions.held_until as "heldUntil", redemptions.created_at as "createdAt",
redemptions.used_at as "confirmedAt", redemptions.released_at as "releasedAt"
from (values (1)) as one left join found on true left join (
  select * from written
  union all select redemptions.* from redemptions, found where id = $id and not "mayWrite"
) as redemptions on true
