with size as (select
  (select coalesce(sum(shown_bytes), 0) > 33554432 from slots where is_active) as is_too_large)
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
  ), 0) end as booked, slots.delivery_sequence::text as "deliverySequence"
from size left join slots on is_active and not is_too_large
where is_too_large or slots.id is not null
