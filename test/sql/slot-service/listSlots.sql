with page as materialized (select id, place from unnest(current_setting('found.ids')::integer[]) with ordinality as ids (id, place)),
associated as materialized (
  select place, count(*)::integer as products
  from (
    select place from page, lateral (select from product_slots where slot_id = page.id offset 0) as products
    limit 1000000
  ) as products
  group by place
),
named as materialized (
  select place, json_agg(snippet_code order by snippet_code collate "C") as codes, count(*) as snippets
  from (
    select place, snippet_code
    from page, lateral (select snippet_code from vendor_snippets where slot_id = page.id offset 0) as snippets
    limit 100000
  ) as snippets
  group by place
),
listed as materialized (
  -- The size of an array is known without reading it.
  select slots.*, place, sum(pg_column_size(group_ids)) over (order by place) as group_bytes
  from page, lateral (select * from slots where id = page.id offset 0) as slots
),
ended as materialized (
  select greatest(2, least(
      $rows::bigint,
      (select max(place) from associated having sum(products) = 1000000),
      (select max(place) from named having sum(snippets) = 100000),
      (select min(place) from listed where group_bytes > 1048576)
  )) as place
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
  ), 0) end as booked, coalesce(products, 0) as "productCount",
array_to_json(array(
    select name
    from product_slots, lateral (select name from products where id = product_id offset 0) as products
    where slot_id = slots.id order by product_id limit 3
)) as "productNames",
coalesce(codes, '[]') as "snippetCodes", (extract(epoch from slots.delivery_time) * 1000000)::bigint as micros,
(select count(*) from page) >= ended.place as "hasNext"
from ended, listed as slots left join associated using (place) left join named using (place)
where slots.place < ended.place
order by slots.place
