with listed as materialized (
  select is_capacity_full, capacity, units.*
  from (
    select id, is_capacity_full, capacity from slots
    where is_active and delivery_time >=
    timestamptz 'epoch' + $fromMicros::bigint / 1000000 * interval '1 second'
    + $fromMicros::bigint % 1000000 * interval '1 microsecond' and delivery_time <
    timestamptz 'epoch' + $untilMicros::bigint / 1000000 * interval '1 second'
    + $untilMicros::bigint % 1000000 * interval '1 microsecond'
    order by delivery_time, id limit 10000
  ) as slots left join lateral (
    select booked, (held - case when held = 0 then 0 else coalesce((
          select sum(units) from slot_bookings
          where slot_id = slot_usage.slot_id and (state = 'HELD' and held_until at time zone 'UTC' <= statement_timestamp() at time zone 'UTC')
        ), 0) end) as held from slot_usage where capacity is not null and slot_id = slots.id
  ) as units on true
)
select count(*)::integer as slots,
(count(*) filter (where is_capacity_full or capacity <= coalesce(booked + held, 0)))::integer as full,
least(coalesce(sum(capacity), 0), 2147483647)::integer as capacity, least(coalesce(sum(booked), 0), 2147483647)::integer as booked, least(coalesce(sum(held), 0), 2147483647)::integer as held,
(select count(*)::integer from store_refresh_requests) as "pendingRequests"
from listed
