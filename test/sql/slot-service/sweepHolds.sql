with oldest as (
  select * from slot_bookings where (slot_bookings.state = 'HELD' and slot_bookings.held_until <= statement_timestamp())
  order by held_until limit $most::integer for no key update skip locked
),
counts as (
  select slot_id from slot_usage where slot_id in (select slot_id from oldest)
  order by slot_id for no key update skip locked
),
free as (select id from oldest join counts using (slot_id)),
request as (insert into store_refresh_requests (slot_id) select slots.id from stored_slots join slots on slots.id = slot_id
  where not slots.is_capacity_full and stored_slots.is_active and stored_slots.booked >= stored_slots.capacity
  and least(delivery_ms, freeze_ms) > extract(epoch from statement_timestamp()) * 1000 and coalesce(slots.capacity > coalesce((
        select least(held + booked - case when held = 0 then 0 else coalesce((
              select sum(units) from slot_bookings
              where state = 'HELD' and slot_id >= slot_usage.slot_id
              and (slot_id, held_until) <= (slot_usage.slot_id, statement_timestamp())
            ), 0) end, 2147483647)::integer
        from slot_usage where slot_id = slots.id
      ), 0), true) returning slot_id),
swept as (update slot_bookings set state = 'EXPIRED' from free where slot_bookings.id = free.id returning 1)
select count(*)::integer as swept, exists (select from request) as "hasRequests" from swept
