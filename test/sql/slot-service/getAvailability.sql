with slot as materialized (
  select id, is_active, is_capacity_full, capacity, case when slots.capacity is not null then coalesce((
      select least(booked + (held - case when held = 0 then 0 else coalesce((
              select sum(units) from slot_bookings
              where slot_id = slot_usage.slot_id and (state = 'HELD' and held_until at time zone 'UTC' <= statement_timestamp() at time zone 'UTC')
            ), 0) end), 2147483647)::integer
      from slot_usage where slot_id = slots.id
    ), 0) end as in_use,
  least(delivery_time, freeze_time) as closes_at
  from slots where id = any($slotIds::integer[])
)
select id as "slotId", case
when not slot.is_active then 1
when slot.closes_at <= statement_timestamp() then 2
when slot.is_capacity_full then 3
when slot.capacity - slot.in_use < 1 then 4
end is null as "isOpen", capacity, in_use as booked, case when slot.capacity is not null then greatest(slot.capacity - slot.in_use - 0, 0) end as remaining
from slot
