select pg_notify($channel, '')
