with oldest as (
  select slot_bookings.id from slot_bookings join slot_usage using (slot_id) where (slot_bookings.state = 'HELD' and slot_bookings.held_until <= statement_timestamp())
  order by held_until limit $most::integer for no key update skip locked
),
request as (insert into store_refresh_requests (slot_id) select slots.id from stored_slots join slots on slots.id = slot_id
  where not slots.is_capacity_full and stored_slots.is_active and stored_slots.is_capacity_full
  and stored_slots.capacity is not null
  and least(delivery_ms, freeze_ms) > extract(epoch from statement_timestamp()) * 1000 and coalesce(slots.capacity > coalesce((
        select least(booked + (held - case when held = 0 then 0 else coalesce((
                select sum(units) from slot_bookings
                where slot_id = slot_usage.slot_id and (state = 'HELD' and held_until at time zone 'UTC' <= statement_timestamp() at time zone 'UTC')
              ), 0) end), 2147483647)::integer
        from slot_usage where slot_id = slots.id
      ), 0), true) returning slot_id),
swept as (update slot_bookings set state = 'EXPIRED' from oldest where slot_bookings.id = oldest.id returning 1)
select count(*)::integer as swept, exists (select from request) as "hasRequests" from swept
