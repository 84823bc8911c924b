-- Up Migration

-- The etag of a record names its state. `set etag = default` gives the record another one. It is random, because a counter
-- would give the same etag twice when the database is set back to an earlier time.
create function next_etag() returns bigint
  language sql volatile
  return (random() * 9e15)::bigint;

-- In two steps: a default that is not constant would rewrite the table. All records of before have the etag 0.
alter table slots add column etag bigint not null default 0;
alter table slots alter column etag set default next_etag();
alter table coupons add column etag bigint not null default 0;
alter table coupons alter column etag set default next_etag();

-- The slot that was written. A refresh tells the replicas, which may have the slot's etag in a cache.
alter table store_refresh_requests add column slot_id integer;

-- The mutations that carried an idempotency key: a row is written in the transaction of the mutation.
create table idempotency_keys (
  -- SHA-256 of the caller, the procedure and the key, of which the first may be long.
  id bytea primary key,
  -- SHA-256 of the request.
  request bytea not null,
  -- The answer in protobuf's binary form; null until the mutation is about to commit.
  answer bytea,
  store_request_id text,
  created_at timestamptz not null default now()
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

create table audit_entries (
  id bigint generated always as identity primary key,
  -- Not the start of the transaction, which may have waited for an earlier change of the same record.
  at timestamptz not null default clock_timestamp(),
  procedure text not null,
  subject text not null,
  staff_id integer,
  request_id text not null,
  resource_type text not null check (resource_type in ('slot', 'coupon', 'reserved_coupon', 'user')),
  resource_id integer not null,
  before jsonb,
  after jsonb not null,
  -- How many bytes the change takes in an answer, known without reading it.
  shown_bytes integer not null generated always as (
    coalesce(octet_length(before::text), 0) + octet_length(after::text)
  ) stored
);

-- One index for each filter, and for each service, which shows its own resources only. Hashes are shorter than texts, and
-- have a place in an index however long the text is.
create index audit_slots_latest_first on audit_entries (at desc, id desc) where resource_type = 'slot';
create index audit_slots_by_id on audit_entries (resource_id, at desc, id desc) where resource_type = 'slot';
create index audit_slots_by_staff on audit_entries (staff_id, at desc, id desc) where resource_type = 'slot';
create index audit_slots_by_subject on audit_entries (hashtext(subject), at desc, id desc) where resource_type = 'slot';
create index audit_slots_by_procedure on audit_entries (hashtext(procedure), at desc, id desc) where resource_type = 'slot';
create index audit_coupons_latest_first on audit_entries (at desc, id desc) where resource_type <> 'slot';
create index audit_coupons_by_type on audit_entries (resource_type, at desc, id desc) where resource_type <> 'slot';
create index audit_coupons_by_id on audit_entries (resource_id, at desc, id desc) where resource_type <> 'slot';
create index audit_coupons_by_staff on audit_entries (staff_id, at desc, id desc) where resource_type <> 'slot';
create index audit_coupons_by_subject on audit_entries (hashtext(subject), at desc, id desc) where resource_type <> 'slot';
create index audit_coupons_by_procedure on audit_entries (hashtext(procedure), at desc, id desc) where resource_type <> 'slot';

create function refuse_audit_change() returns trigger
  language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('audit.sweeping', true) = 'on' then
    return null;
  end if;
  raise exception 'audit entries are append only' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_entries_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_audit_change();

-- Deletes entries from before a time, of those that were written first: at most so many, however many there are. Returns how
-- many it deleted. It has the rights of the owner, because the role of the services may not delete entries.
create function sweep_audit_entries(before_time timestamptz, most integer) returns integer
  language sql volatile security definer
  set search_path from current
  set audit.sweeping = 'on'
as $$
  with oldest as (select id, at from audit_entries order by id limit most for update skip locked),
  swept as (delete from audit_entries using oldest where audit_entries.id = oldest.id and oldest.at < before_time returning 1)
  select count(*)::integer from swept
$$;

-- The fields of `record` whose values differ from those in `other`, without those that have no value. Null for no record.
create function differing_fields(record jsonb, other jsonb) returns jsonb
  language sql immutable
  return case when record is not null then coalesce((
    select jsonb_object_agg(key, value) from jsonb_each(record) where value <> 'null' and value is distinct from other -> key
  ), '{}') end;

-- A time as protobuf's JSON form has it: to the millisecond, without a fraction of zero.
create function api_time(at timestamptz) returns text
  language sql stable
  return replace(to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '.000Z', 'Z');
