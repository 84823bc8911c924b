with seen as materialized (select * from redemptions where id = $id for no key update),
written as (
  update redemptions set state = 'RELEASED', released_at = statement_timestamp(), held_until = null
  from seen where redemptions.id = seen.id and seen.state <> 'RELEASED'
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
        'usedAt', api_time(seen.used_at), 'releasedAt', api_time(seen.released_at), 'reason', null) as old, json_build_object(
        'orderAmount', written.order_amount::text, 'discountAmount', written.discount_amount::text, 'state', 'REDEMPTION_STATE_' || case when (written.state = 'HELD' and written.held_until <= statement_timestamp()) then 'EXPIRED' else written.state end, 'heldUntil', api_time(written.held_until),
        'usedAt', api_time(written.used_at), 'releasedAt', api_time(written.released_at), 'reason', nullif($reason::text, '')) as new
      from seen join written using (id)) as records, lateral changed_fields(old, new) where before::text <> after::text offset 0) as changes
)
select
redemptions.id, redemptions.order_key as "orderKey", redemptions.coupon_id as "couponId", redemptions.user_id as "userId",
redemptions.order_amount as "orderAmount", redemptions.discount_amount as "discountAmount", case when (redemptions.state = 'HELD' and redemptions.held_until <= statement_timestamp()) then 'EXPIRED' else redemptions.state end as state,
redemptions.held_until as "heldUntil", redemptions.created_at as "createdAt",
redemptions.used_at as "confirmedAt", redemptions.released_at as "releasedAt", written.id is not null as "isChanged"
from (select * from written union all select * from seen where state = 'RELEASED') as redemptions
left join written using (id)
