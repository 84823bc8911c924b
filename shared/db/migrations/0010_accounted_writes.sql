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
  -- The answer in protobuf's binary form.
  answer bytea not null,
  store_request_id text,
  created_at timestamptz not null default now()
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Fails for a key with a stored answer, and with it all that has been sent behind it in the same transaction.
create function refuse_known_key(key bytea) returns void
  language plpgsql stable
  as $$
begin
  if exists (select from idempotency_keys where id = key) then
    raise exception 'the idempotency key is known' using errcode = 'unique_violation', constraint = 'idempotency_keys_pkey';
  end if;
end $$;

-- As bare as it can be, because each write pays for it. No generated column and no check, which PostgreSQL would parse anew for
-- each statement. No primary key, because no query asks for an entry by its id alone.
create table audit_entries (
  id bigint generated always as identity,
  -- Not the start of the transaction, which may have waited for an earlier change of the same record.
  at timestamptz not null default clock_timestamp(),
  procedure text not null,
  subject text not null,
  staff_id integer,
  request_id text not null,
  -- slot, coupon, reserved_coupon or user.
  resource_type text collate "C" not null,
  resource_id integer not null,
  -- Texts, which are only copied into answers.
  before json,
  after json not null,
  -- How many bytes the change takes in an answer, known without reading it; 0 for an entry that is made by hand.
  shown_bytes integer not null default 0
);

-- One index for each filter. Hashes are shorter than texts, and have a place in an index however long the text is.
create index audit_entries_latest_first on audit_entries (resource_type, at desc, id desc);
create index audit_entries_by_resource on audit_entries (resource_type, resource_id, at desc, id desc);
create index audit_entries_by_staff on audit_entries (resource_type, staff_id, at desc, id desc);
create index audit_entries_by_subject on audit_entries (resource_type, hashtext(subject), at desc, id desc);
create index audit_entries_by_procedure on audit_entries (resource_type, hashtext(procedure), at desc, id desc);

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

-- Deletes entries from before a time: of each type the oldest, `most` at most. Returns how many in all. It has the rights of the
-- owner, because the role of the services may not delete entries; and it leaves the last day.
create function sweep_audit_entries(before_time timestamptz, most integer) returns integer
  language sql volatile security definer
  -- Nothing of the caller's own, such as a temporary table, may stand for what the function names.
  set search_path = pg_catalog, pg_temp
  set audit.sweeping = 'on'
as $$
  with oldest as (
    select oldest.ctid
    from unnest(array['slot', 'coupon', 'reserved_coupon', 'user']) as types (type), lateral (
      select ctid from public.audit_entries where resource_type = type and at < least(before_time, now() - interval '1 day')
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

-- As migration 0002 has it, but not in SQL, which PostgreSQL parses anew for each row that is written: that was a fifth of what
-- it takes to insert a coupon.
create or replace function search_grams(value text, shortest integer) returns text[]
  language plpgsql immutable strict parallel restricted cost 1000
  as $$
declare
  lowered text := lower(value);
  grams text[] := '{}';
begin
  for size in least(shortest, length(lowered)) .. 3 loop
    for start in 1 .. length(lowered) - size + 1 loop
      grams := grams || substr(lowered, start, size);
    end loop;
  end loop;
  return grams;
end $$;
