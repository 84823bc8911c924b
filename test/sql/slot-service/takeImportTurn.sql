select case when $isAlone then pg_advisory_xact_lock(hashtext(own_name('import of ' || $list))) else pg_advisory_xact_lock_shared(hashtext(own_name('import of ' || $list))) end
