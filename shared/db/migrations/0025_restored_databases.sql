-- Up Migration

-- As migration 0005 has it, but another number, too, in another cluster, and in a database that a dump was restored into: there the
-- same transaction ids name other transactions, and the log begins with timeline 1 again. It is one of 32,767 numbers, of which the
-- timelines of one database have different ones. It is volatile because `pg_control_system` is, and so becomes part of its statements.
create or replace function wal_timeline() returns integer
  language sql volatile
  return 1 + (
    (hashint8extended((pg_control_system()).system_identifier, 'store_versions'::regclass::oid::bigint) & 32767)
    + ('x' || substr(pg_walfile_name('0/1'), 1, 8))::bit(32)::integer
  ) % 32767;
