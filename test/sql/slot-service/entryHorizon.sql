select pg_is_in_recovery() as "isStandby",
coalesce(last.id, 0)::float8 as "lastId", coalesce((extract(epoch from last.at) * 1000000)::bigint, 0)::float8 as "lastMicros",
array(
  select virtualtransaction from pg_locks
  where relation = 'audit_entries'::regclass and mode = 'RowExclusiveLock' and granted
  and database = (select oid from pg_database where datname = current_database())
) as writers,
coalesce(last.id, 0) < $id::bigint or ($id::bigint > 0 and not exists (
    select from audit_entries where id = $id::bigint and at =
    timestamptz 'epoch' + $micros::bigint / 1000000 * interval '1 second'
    + $micros::bigint % 1000000 * interval '1 microsecond'
    union all select from audit_retention where swept_id >= $id::bigint
)) as "isSetBack"
from (values (1)) as one left join (
  select id, at from (select id, at from audit_entries order by id desc limit 1) as kept
  union all select swept_id, swept_at from audit_retention where swept_id is not null
  order by id desc limit 1
) as last on true
