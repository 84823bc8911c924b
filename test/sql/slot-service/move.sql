with seen as materialized (
  select *, case when (slot_bookings.state = 'HELD' and slot_bookings.held_until <= statement_timestamp()) then 'EXPIRED' else slot_bookings.state end as current_state, xmin from slot_bookings where id = $id
),
slot as materialized (
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
own as materialized (
  select id, is_active, is_capacity_full, capacity, case when slots.capacity is not null then coalesce((
      select least(booked + (held - case when held = 0 then 0 else coalesce((
              select sum(units) from slot_bookings
              where slot_id = slot_usage.slot_id and (state = 'HELD' and held_until at time zone 'UTC' <= statement_timestamp() at time zone 'UTC')
            ), 0) end), 2147483647)::integer
      from slot_usage where slot_id = slots.id
    ), 0) end as in_use,
  least(delivery_time, freeze_time) as closes_at
  from slots where id = (select slot_id from seen)
),
found as materialized (
  select slot.id is not null as "slotExists", case
  when not slot.is_active then 1
  when slot.closes_at <= statement_timestamp() then 2
  when slot.is_capacity_full then 3
  when slot.capacity - slot.in_use < seen.units then 4
  end as refusal, exists (
    select from slot_bookings
    where order_key = seen.order_key and slot_id = $slotId and id <> seen.id and (slot_bookings.state in ('HELD', 'BOOKED') and (slot_bookings.state = 'BOOKED' or slot_bookings.held_until > statement_timestamp()))
  ) as "orderHasBooking",
  current_state in ('HELD', 'BOOKED') and slot_id <> $slotId as is_move
  from seen left join slot on true
),
decided as materialized (
  select *, is_move and "slotExists" and not "orderHasBooking" and refusal is null as "mayWrite" from found
),
written as (
  update slot_bookings set slot_id = $slotId
  from seen, decided where "mayWrite" and slot_bookings.id = seen.id and slot_bookings.xmin = seen.xmin
  returning slot_bookings.*
),
booking_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'booking', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, before, after from (select id, json_build_object(
        'slotId', seen.slot_id, 'userId', seen.user_id, 'units', seen.units, 'state', 'SLOT_BOOKING_STATE_' || case when (seen.state = 'HELD' and seen.held_until <= statement_timestamp()) then 'EXPIRED' else seen.state end, 'heldUntil', api_time(seen.held_until),
        'bookedAt', api_time(seen.booked_at), 'releasedAt', api_time(seen.released_at)) as old, json_build_object(
        'slotId', written.slot_id, 'userId', written.user_id, 'units', written.units, 'state', 'SLOT_BOOKING_STATE_' || case when (written.state = 'HELD' and written.held_until <= statement_timestamp()) then 'EXPIRED' else written.state end, 'heldUntil', api_time(written.held_until),
        'bookedAt', api_time(written.booked_at), 'releasedAt', api_time(written.released_at)) as new
      from seen join written using (id)) as records, lateral changed_fields(old, new) where before::text <> after::text offset 0) as changes
),
crossing as materialized (
  select id, is_capacity_full from slots
  where id in (
    select id from (select slot.*, units as more from slot, written union all select own.*, -units from own, written) as changes where (capacity - in_use <= 0) <> (capacity - in_use <= more)
  )
  order by id for share
),
request as (insert into store_refresh_requests (slot_id) select id from crossing where not is_capacity_full returning slot_id)
select coalesce("mayWrite", false) as "mayWrite", "slotExists", "orderHasBooking", refusal, case when exists (select from request) then store_request_id()::text end as "storeRequestId",
case when slot.capacity is not null then greatest(slot.capacity - slot.in_use - coalesce((select units from written), 0), 0) end as remaining,
slot_bookings.id, slot_bookings.order_key as "orderKey", slot_bookings.slot_id as "slotId", slot_bookings.user_id as "userId", slot_bookings.units, case when (slot_bookings.state = 'HELD' and slot_bookings.held_until <= statement_timestamp()) then 'EXPIRED' else slot_bookings.state end as state,
slot_bookings.held_until as "heldUntil", slot_bookings.created_at as "createdAt",
slot_bookings.booked_at as "confirmedAt", slot_bookings.released_at as "releasedAt"
from (values (1)) as one left join decided on true left join slot on true left join (
  select * from written
  union all select slot_bookings.* from slot_bookings, decided where id = $id and not "mayWrite"
) as slot_bookings on true
