-- Up Migration

-- The etag of a record names its state. `set etag = default` gives the record another one. It is random, because a counter
-- would give the same etag twice when the database is set back to an earlier time. It has 16 digits.
create function next_etag() returns bigint
  language sql volatile
  return (1e15 + random() * 8e15)::bigint;

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

-- Without a primary key: no query asks for an entry by its id alone, and each index makes every write slower.
create table audit_entries (
  id bigint generated always as identity,
  -- Not the start of the transaction, which may have waited for an earlier change of the same record.
  at timestamptz not null default clock_timestamp(),
  procedure text not null,
  subject text not null,
  staff_id integer,
  request_id text not null,
  resource_type text not null check (resource_type in ('slot', 'coupon', 'reserved_coupon', 'user')),
  resource_id integer not null,
  -- Texts, which are only copied into answers.
  before json,
  after json not null,
  -- Whose resource it is: of slot-service, or of coupon-service. Each shows its own only.
  is_slot boolean not null generated always as (resource_type = 'slot') stored,
  -- How many bytes the change takes in an answer, known without reading it.
  shown_bytes integer not null generated always as (
    coalesce(octet_length(before::text), 0) + octet_length(after::text)
  ) stored
);

-- One index for each filter. Hashes are shorter than texts, and have a place in an index however long the text is.
create index audit_entries_latest_first on audit_entries (is_slot, at desc, id desc);
create index audit_entries_by_type on audit_entries (resource_type, at desc, id desc) where not is_slot;
create index audit_entries_by_resource on audit_entries (is_slot, resource_id, at desc, id desc);
create index audit_entries_by_staff on audit_entries (is_slot, staff_id, at desc, id desc);
create index audit_entries_by_subject on audit_entries (is_slot, hashtext(subject), at desc, id desc);
create index audit_entries_by_procedure on audit_entries (is_slot, hashtext(procedure), at desc, id desc);

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

-- Deletes entries of either service from before a time: the oldest, and at most so many of each. Returns how many it
-- deleted. It has the rights of the owner, because the role of the services may not delete entries; and it leaves the last day.
create function sweep_audit_entries(before_time timestamptz, most integer) returns integer
  language sql volatile security definer
  -- Nothing of the caller's own, such as a temporary table, may stand for what the function names.
  set search_path = pg_catalog, pg_temp
  set audit.sweeping = 'on'
as $$
  with oldest as (
    select oldest.ctid
    from (values (true), (false)) as services (of_slots), lateral (
      select ctid from public.audit_entries where is_slot = of_slots and at < least(before_time, now() - interval '1 day')
      order by at limit most for update skip locked
    ) as oldest
  ),
  swept as (delete from public.audit_entries where ctid = any (array(select ctid from oldest)) returning 1)
  select count(*)::integer from swept
$$;
revoke execute on function sweep_audit_entries from public;

-- A time as protobuf's JSON form has it: to the millisecond, without a fraction of zero.
create function api_time(at timestamptz) returns text
  language sql stable
  return replace(to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '.000Z', 'Z');
