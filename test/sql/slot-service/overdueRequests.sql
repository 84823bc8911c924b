select exists (
  select from store_refresh_requests where requested_at < now() - $ms::integer * interval '1 ms'
) and not exists (
  select from pg_locks where relation = 'store_versions'::regclass and mode = 'ExclusiveLock' and granted
  and database = (select oid from pg_database where datname = current_database())
) as "areOverdue"
