with slot as materialized (select from slots where id = $slotId for no key update)
select pg_advisory_xact_lock(hashtext(own_name('product_slots')), $slotId) from (select count(*) from slot) as locked
