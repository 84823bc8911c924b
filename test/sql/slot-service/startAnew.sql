with gone as (delete from stored_slots where not exists (select from slots where id = slot_id))
delete from store_versions
