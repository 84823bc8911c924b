with listed as materialized (
  select id, is_capacity_full, capacity from slots
  where is_active and delivery_time >=
  timestamptz 'epoch' + $fromMicros::bigint / 1000000 * interval '1 second'
  + $fromMicros::bigint % 1000000 * interval '1 microsecond' and delivery_time <
  timestamptz 'epoch' + $untilMicros::bigint / 1000000 * interval '1 second'
  + $untilMicros::bigint % 1000000 * interval '1 microsecond'
  order by delivery_time, id limit 10000
), counted as materialized (
  -- Which slots have holds that have run out is read once: to look in each slot took five times as long.
  select is_capacity_full, capacity, booked, case
  when slot_id in (select slot_id from slot_bookings where (slot_bookings.state = 'HELD' and slot_bookings.held_until <= statement_timestamp())) then (held - case when held = 0 then 0 else coalesce((
        select sum(units) from slot_bookings
        where slot_id = slot_usage.slot_id and (state = 'HELD' and held_until at time zone 'UTC' <= statement_timestamp() at time zone 'UTC')
      ), 0) end)
  else held
  end as held
  from listed left join slot_usage on slot_id = listed.id and capacity is not null
)
select count(*)::integer as slots,
(count(*) filter (where is_capacity_full or capacity <= coalesce(booked + held, 0)))::integer as full,
least(coalesce(sum(capacity), 0), 2147483647)::integer as capacity, least(coalesce(sum(booked), 0), 2147483647)::integer as booked, least(coalesce(sum(held), 0), 2147483647)::integer as held,
(select count(*)::integer from store_refresh_requests) as "pendingRequests"
from counted
