with size as (
  select
  (select coalesce(sum(shown_bytes), 0) > 33554432 from slots where is_active) or (
    select count(*) > 700000
    from (
      select from slots, lateral (select from product_slots where slot_id = slots.id offset 0) as associations
      where is_active limit 700000 + 1
    ) as counted
  ) as is_too_large
),
slots as materialized (
  select *, array(
    select product_id from product_slots where slot_id = slots.id order by product_id
  ) as associated
  from slots where is_active and not (select is_too_large from size)
),
shown as materialized (
  select id, name, images from products where id in (select unnest(associated) from slots)
),
verdict as materialized (
  select is_too_large or (
    select coalesce(sum(octet_length(products.name) + coalesce(octet_length(array_to_string(products.images, '')), 0)), 0) > 67108864 from shown as products
  ) as is_too_large
  from size
)
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
  ), 0) end as booked, slots.delivery_sequence::text as "deliverySequence", array_to_json(associated) as "productIds",
case when not is_too_large and row_number() over latest_first = 1 then (
  select json_agg(json_build_object('id', id, 'name', name, 'images', images)) from shown
) end as products
from verdict left join slots on not is_too_large
where is_too_large or slots.id is not null
window latest_first as (order by delivery_time desc, id desc)
order by delivery_time desc, id desc
