select case when $id::bigint > 0
then exists (select from audit_entries where id = $id::bigint and at =
  timestamptz 'epoch' + $micros::bigint / 1000000 * interval '1 second'
  + $micros::bigint % 1000000 * interval '1 microsecond')
else not (select has_swept from audit_retention) end as "isKept"
