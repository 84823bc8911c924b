select pg_advisory_xact_lock(hashtext(own_name('booking')), $id::integer)
