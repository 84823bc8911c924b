select pg_is_in_recovery() as "isStandby", case when $id::bigint > 0
then exists (select from audit_entries where id = $id::bigint and at =
  timestamptz 'epoch' + $micros::bigint / 1000000 * interval '1 second'
  + $micros::bigint % 1000000 * interval '1 microsecond')
or exists (select from audit_retention where swept_id = $id::bigint and swept_at =
  timestamptz 'epoch' + $micros::bigint / 1000000 * interval '1 second'
  + $micros::bigint % 1000000 * interval '1 microsecond')
else not exists (select from audit_retention where swept_id is not null) end as "isKept"
