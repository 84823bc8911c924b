with slot as materialized (
  select id, is_active, is_capacity_full, capacity, case when slots.capacity is not null then coalesce((
      select least(booked + (held - case when held = 0 then 0 else coalesce((
              select sum(units) from slot_bookings
              where slot_id = slot_usage.slot_id and (state = 'HELD' and held_until at time zone 'UTC' <= statement_timestamp() at time zone 'UTC')
            ), 0) end), 2147483647)::integer
      from slot_usage where slot_id = slots.id
    ), 0) end as in_use,
  least(delivery_time, freeze_time) as closes_at
  from slots where id = $slotId::integer
),
seen as materialized (
  select *, xmin from slot_bookings
  where order_key = $orderKey::text and slot_id = $slotId and (slot_bookings.state in ('HELD', 'BOOKED') and (slot_bookings.state = 'BOOKED' or slot_bookings.held_until > statement_timestamp()))
),
asked as materialized (
  select one.user_id, slot.id is not null as "slotExists",
  $userId::integer is null and $userExternalId::text is null or one.user_id is not null as "userExists",
  coalesce(seen.user_id <> one.user_id, false) as "isOthers", coalesce(seen.state = 'BOOKED', false) as is_booked,
  coalesce(seen.state = 'BOOKED' and seen.units = $units::integer, false) as is_unchanged,
  $units - coalesce(seen.units, 0) as more,
  case when $units > coalesce(seen.units, 0) then case
  when not slot.is_active then 1
  when slot.closes_at <= statement_timestamp() then 2
  when slot.is_capacity_full then 3
  when slot.capacity - slot.in_use < $units - coalesce(seen.units, 0) then 4
  end end as refusal
  from (select (
      select id from users where id = $userId::integer
      union all select id from users where external_id = $userExternalId::text
    ) as user_id) as one left join slot on true left join seen on true
),
found as materialized (
  select *, "slotExists" and "userExists" and not "isOthers" and case
  when is_unchanged then user_id is not null and exists (select from seen where seen.user_id is null)
  else refusal is null
  end as "mayWrite"
  from asked
),
wanted (units, user_id, state, held_until, booked_at) as materialized (
  select $units, coalesce(seen.user_id, found.user_id),
  case when is_booked or $holdSeconds::integer = 0 then 'BOOKED' else 'HELD' end,
  case when not is_booked and $holdSeconds > 0 then statement_timestamp() + $holdSeconds * interval '1 second' end,
  case when is_booked then seen.booked_at when $holdSeconds = 0 then statement_timestamp() end
  from found left join seen on true where "mayWrite"
),
renewed as (
  update slot_bookings set (units, user_id, state, held_until, booked_at) = (select units, user_id, state, held_until, booked_at from wanted)
  from seen where exists (select from wanted) and slot_bookings.id = seen.id and slot_bookings.xmin = seen.xmin
  returning slot_bookings.*, slot_bookings.xmin
),
created as (
  insert into slot_bookings (slot_id, order_key, created_at, units, user_id, state, held_until, booked_at)
  select $slotId, $orderKey, statement_timestamp(), units, user_id, state, held_until, booked_at
  from wanted where case when not exists (select from seen) then $keyId::bytea is null or is_new_key($keyId) else false end
  returning slot_bookings.*, slot_bookings.xmin
),
booking_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'booking', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (
    select id, null::json as before, json_strip_nulls(json_build_object(
        'orderKey', order_key, 'createdAt', api_time(created_at),
        'slotId', created.slot_id, 'userId', created.user_id, 'units', created.units, 'state', 'SLOT_BOOKING_STATE_' || case when (created.state = 'HELD' and created.held_until <= statement_timestamp()) then 'EXPIRED' else created.state end, 'heldUntil', api_time(created.held_until),
        'bookedAt', api_time(created.booked_at), 'releasedAt', api_time(created.released_at)
    )) as after
    from created union all select id, before, after from (select id, json_build_object(
        'slotId', seen.slot_id, 'userId', seen.user_id, 'units', seen.units, 'state', 'SLOT_BOOKING_STATE_' || case when (seen.state = 'HELD' and seen.held_until <= statement_timestamp()) then 'EXPIRED' else seen.state end, 'heldUntil', api_time(seen.held_until),
        'bookedAt', api_time(seen.booked_at), 'releasedAt', api_time(seen.released_at)) as old, json_build_object(
        'slotId', renewed.slot_id, 'userId', renewed.user_id, 'units', renewed.units, 'state', 'SLOT_BOOKING_STATE_' || case when (renewed.state = 'HELD' and renewed.held_until <= statement_timestamp()) then 'EXPIRED' else renewed.state end, 'heldUntil', api_time(renewed.held_until),
        'bookedAt', api_time(renewed.booked_at), 'releasedAt', api_time(renewed.released_at)) as new
      from seen join renewed using (id)) as records, lateral changed_fields(old, new) where before::text <> after::text offset 0) as changes
),
written as (select * from renewed union all select * from created),
kept as (
  select * from written
  union all select seen.* from seen, found where not "mayWrite"
),
crossing as materialized (
  select id, is_capacity_full from slots
  where id in (
    select id from (select slot.*, more from slot, found, written) as changes where (capacity - in_use <= 0) <> (capacity - in_use <= more)
  )
  order by id for share
),
request as (insert into store_refresh_requests (slot_id) select id from crossing where not is_capacity_full returning slot_id)
select "slotExists", "userExists", "isOthers", refusal, "mayWrite",
case when slot.capacity is not null then greatest(slot.capacity - slot.in_use - case when refusal is null then more else 0 end, 0) end as remaining, case when exists (select from request) then store_request_id()::text end as "storeRequestId",
slot_bookings.id, slot_bookings.order_key as "orderKey", slot_bookings.slot_id as "slotId", slot_bookings.user_id as "userId", slot_bookings.units, case when (slot_bookings.state = 'HELD' and slot_bookings.held_until <= statement_timestamp()) then 'EXPIRED' else slot_bookings.state end as state,
slot_bookings.held_until as "heldUntil", slot_bookings.created_at as "createdAt",
slot_bookings.booked_at as "confirmedAt", slot_bookings.released_at as "releasedAt"
from found left join slot on true left join kept as slot_bookings on true
