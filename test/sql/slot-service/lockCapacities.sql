select pg_advisory_xact_lock(hashtext(own_name('capacities of slots')), 0)
