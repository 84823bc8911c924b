with taken as (delete from store_refresh_requests returning slot_id)
select slot_id as "slotId", count(*)::integer as requests from taken group by slot_id
