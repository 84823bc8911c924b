select pg_advisory_xact_lock(hashtext(own_name('copied_slots')), day) from unnest($days::integer[]) as day
