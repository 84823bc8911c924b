with stored as materialized (
  select slots.*, case when slots.capacity is not null then coalesce((
      select least(booked + (held - case when held = 0 then 0 else coalesce((
              select sum(units) from slot_bookings
              where slot_id = slot_usage.slot_id and (state = 'HELD' and held_until at time zone 'UTC' <= statement_timestamp() at time zone 'UTC')
            ), 0) end), 2147483647)::integer
      from slot_usage where slot_id = slots.id
    ), 0) end as booked, (
    select held + booked >= slots.capacity from slot_usage where slot_id = slots.id
  ) as is_filled
  from slots where id = any($slotIds::integer[])
),
gone as (
  update stored_slots set version = $version, is_active = false
  where slot_id = any($slotIds::integer[]) and is_active
  and not exists (select from slots where id = slot_id)
)
insert into stored_slots (slot_id, version, delivery_ms, freeze_ms, is_active, is_capacity_full, product_ids, capacity,
  window_minutes, booked)
select id, $version, floor(extract(epoch from delivery_time) * 1000), floor(extract(epoch from freeze_time) * 1000),
is_active, is_capacity_full or coalesce(is_filled, false), array(
  select product_id from product_slots where slot_id = stored.id and stored.is_active order by product_id
), capacity, window_minutes, booked
from stored
on conflict (slot_id) do update set version = excluded.version, delivery_ms = excluded.delivery_ms,
freeze_ms = excluded.freeze_ms, is_active = excluded.is_active, is_capacity_full = excluded.is_capacity_full,
product_ids = excluded.product_ids, capacity = excluded.capacity, window_minutes = excluded.window_minutes,
booked = excluded.booked
where (stored_slots.delivery_ms, stored_slots.freeze_ms, stored_slots.is_active, stored_slots.is_capacity_full,
  stored_slots.product_ids, stored_slots.capacity, stored_slots.window_minutes, stored_slots.booked)
is distinct from (excluded.delivery_ms, excluded.freeze_ms, excluded.is_active, excluded.is_capacity_full,
  excluded.product_ids, excluded.capacity, excluded.window_minutes, excluded.booked)
