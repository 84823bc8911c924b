select pg_advisory_xact_lock(hashtext('copied_slots'), day) from unnest($days::integer[]) as day
