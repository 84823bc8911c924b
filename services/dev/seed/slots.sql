-- From a week ago to eight days ahead, by India's clock: morning, afternoon, evening. The morning's orders close the evening before,
-- the others' three hours before; but the next two slots close within two hours, whatever the time is.
insert into slots
  (id, delivery_time, freeze_time, is_active, is_capacity_full, group_ids, capacity, window_minutes)
with planned as (
  select
    row_number() over (order by day, hour) as id, day, hour,
    date_trunc('day', now(), 'Asia/Kolkata') + make_interval(hours => day * 24 + hour) as delivery_time
  from unnest(array[4, 5, 3, 5, 4, 5, 5, 5, 5, 4, 5, 5, 3, 4, 4, 3]) with ordinality as days (size, nth),
    lateral (select nth::integer - 8 as day) as day, lateral unnest((array[18, 8, 20, 10, 16])[:size]) as hour
),
next_two as (
  select id, row_number() over (order by id) as nth
  from planned where delivery_time > now() + interval '2 hours' order by id limit 2
)
select
  id, delivery_time,
  coalesce(
    date_bin('15 minutes', now(), 'epoch') + make_interval(mins => (array[45, 105])[nth]),
    delivery_time - make_interval(hours => case when hour < 12 then 10 else 3 end)
  ),
  id not in (9, 57),
  id in (44, 55),
  pg_temp.ids(id, 2 + id % 4, 10),
  case when day in (0, 1) or day < 8 and id % 9 <> 0 then (array[24, 30, 36, 40, 48, 60])[id * 5 % 6 + 1] end,
  case when id % 9 <> 0 then 120 end
from planned left join next_two using (id);

insert into product_slots (slot_id, product_id)
select id, product_id from slots, unnest(pg_temp.ids(id - 1, 8 + (id - 1) * 7 % 13, 75)) as product_id;

-- Vendor snippets: the products that a vendor brings for a slot.
insert into vendor_snippets (id, snippet_code, slot_id, product_ids, valid_till)
select
  n + 1,
  pg_temp.pick(array['sahyadri-farms', 'gokul-dairy', 'deccan-grains', 'konkan-fruits'], n)
    || to_char(n + 1, '"-"FM00'),
  43 - n,
  pg_temp.ids(n * 3, 3 + n % 5, 75),
  case when n % 3 <> 2 then now() + make_interval(hours => 24 * (n - 1)) end
from generate_series(0, 11) as n;

