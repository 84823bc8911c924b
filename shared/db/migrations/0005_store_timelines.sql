-- Up Migration

-- The timeline of the server's log: another one since each recovery to a point in time and each failover. Transaction ids
-- of two timelines may be the same and name different transactions.
create function wal_timeline() returns integer
  language sql stable
  return ('x' || substr(pg_walfile_name('0/1'), 1, 8))::bit(32)::integer;

-- What the header `store-request-id` holds: the timeline and the id of the transaction that asks.
create function store_request_id() returns bigint
  language sql volatile
  return (wal_timeline()::bigint << 48) | pg_current_xact_id()::text::bigint;

alter table store_versions add column timeline integer not null default wal_timeline();
