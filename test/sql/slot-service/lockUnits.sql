select pg_advisory_xact_lock(hashtext(own_name('units of a slot')), id) from unnest($slotIds::integer[]) as id
