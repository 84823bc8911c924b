with seen as (select * from slots where id = $slotId for no key update),
change as materialized (
  select *, before::text is distinct from after::text as differs from (select id, json_build_object('isCapacityFull', is_capacity_full) as before,
    json_build_object('isCapacityFull', $isCapacityFull::boolean) as after
    from seen where ($etag = '' or seen.etag::text = $etag) offset 0) as changes
),
written as (
  update slots set is_capacity_full = $isCapacityFull, etag = default
  from change where slots.id = change.id and differs
  returning slots.*
),
slot_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'slot', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, before, after from change join written using (id) offset 0) as changes
),
kept as (
  select * from written
  union all select seen.* from seen join change using (id) where not differs
),
request as (insert into store_refresh_requests (slot_id) select id from kept returning slot_id)
select
slots.id, to_json(slots.delivery_time at time zone 'UTC')::text as "deliveryTime",
to_json(slots.freeze_time at time zone 'UTC')::text as "freezeTime",
slots.is_active as "isActive", slots.is_capacity_full as "isCapacityFull",
to_json(slots.group_ids) as "groupIds", slots.etag, slots.capacity, slots.window_minutes as "windowMinutes",
case when slots.capacity is not null then coalesce((
    select least(booked + (held - case when held = 0 then 0 else coalesce((
            select sum(units) from slot_bookings
            where slot_id = slot_usage.slot_id and (state = 'HELD' and held_until at time zone 'UTC' <= statement_timestamp() at time zone 'UTC')
          ), 0) end), 2147483647)::integer
    from slot_usage where slot_id = slots.id
  ), 0) end as booked, slots.delivery_sequence::text as "deliverySequence", store_request_id()::text as "storeRequestId" from seen left join kept as slots on true
