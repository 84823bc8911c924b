-- An order each 10 minutes for the last 31 days. A few came by phone and have no user.
insert into orders (id, user_id, total_amount, created_at, external_id)
select
  n, case when n % 50 <> 24 then pg_temp.user_of(n) end,
  trim_scale((18000 + n * 15735 % 290000) / 100.0),
  now() - make_interval(mins => ((4464 - n) * 10 + 5)::integer), 'A-' || n + 2000
from generate_series(1::bigint, 4464) as n;

-- The latest orders have booked slots: nearly all units of the past ones, fewer of later ones. Each slot gets orders from before it
-- closed. Some are released or were never paid, and the newest are still held.
create temporary table bookings on commit drop as
with filled as (
  select
    id as slot_id, freeze_time, freeze_time > now() as is_open,
    capacity * case
      when id in (35, 40) then 100
      when day < 0 then 88 + id * 7 % 13
      when day < 2 then 60 - day * 30 + id * 11 % 31
      else 5 + id * 7 % 16
    end::integer / 100 as units
  from slots, floor(extract(epoch from delivery_time - date_trunc('day', now(), 'Asia/Kolkata')) / 86400) as day
  where capacity is not null
),
wanted as (
  select
    slot_id, is_open, (slot_id * 7919 + nth * 104729) % 10007 as chance, freeze_time,
    case when nth < units and nth % 6 = 4 then 2 else 1 end as units,
    case when nth <= units then 'BOOKED' when nth % 3 = 0 then 'EXPIRED' else 'RELEASED' end as state
  from filled, generate_series(1, units + units / 10) as nth
  where nth > units or nth % 6 <> 5
),
ordered as (
  select *, row_number() over (
    order by is_open desc, case when not is_open then freeze_time - make_interval(secs => chance * 10) end desc, chance, slot_id
  ) as nth
  from wanted
)
select
  row_number() over (order by nth desc) as id, slot_id, orders.id as order_id, user_id, units, external_id, created_at, nth,
  case when state = 'BOOKED' and nth < 9 then 'HELD' else state end as state,
  created_at + least(interval '3 hours', (now() - created_at) / 2) as ended_at
from ordered join orders on orders.id = 4465 - nth;

insert into slot_bookings (id, slot_id, order_key, user_id, units, state, held_until, created_at, booked_at, released_at)
select
  id, slot_id, external_id, user_id, units, state,
  case state when 'HELD' then now() + make_interval(mins => (nth * 20 - 10)::integer) when 'EXPIRED' then ended_at end,
  created_at,
  case when state in ('BOOKED', 'RELEASED') then created_at + interval '2 minutes' end,
  case when state = 'RELEASED' then ended_at end
from bookings order by id;

-- Drivers have their sequence for yesterday and today.
update slots set delivery_sequence = sequence
from (
  select slot_id, jsonb_object_agg(user_id, order_ids) as sequence
  from (
    select slot_id, user_id, jsonb_agg(order_id order by order_id) as order_ids
    from bookings where state = 'BOOKED' and user_id is not null and slot_id between 27 and 35 group by slot_id, user_id
  ) as stops group by slot_id
) as sequences
where id = slot_id;

insert into order_statuses (id, order_id, is_cancelled, is_delivered)
select orders.id, orders.id, is_cancelled, not is_cancelled and coalesce(bookings.state = 'BOOKED' and delivery_time < now(), true)
from orders left join bookings on order_id = orders.id left join slots on slots.id = slot_id,
  lateral (select coalesce(state = 'RELEASED', orders.id % 14 = 9) as is_cancelled) as cancelled;
