-- Up Migration

-- Each write pays for its audit entry. PostgreSQL parses a generated column and a check anew for each statement, so an entry has
-- neither any more. Its writer tells `shown_bytes`: how many bytes the change takes in an answer, known without reading it; 0 for an
-- entry that is made by hand. Databases that were made between two releases have some of this already, hence each `if exists`.
drop index if exists audit_entries_latest_first, audit_entries_by_type, audit_entries_by_resource, audit_entries_by_staff,
  audit_entries_by_subject, audit_entries_by_procedure;
alter table audit_entries
  drop constraint if exists audit_entries_resource_type_check,
  drop column if exists is_slot,
  alter column shown_bytes drop expression if exists,
  alter column shown_bytes set default 0,
  alter column resource_type type text collate "C";

-- One index for each filter, and each begins with the type: five where there were six. Hashes are shorter than texts, and have a
-- place in an index however long the text is.
create index audit_entries_latest_first on audit_entries (resource_type, at desc, id desc);
create index audit_entries_by_resource on audit_entries (resource_type, resource_id, at desc, id desc);
create index audit_entries_by_staff on audit_entries (resource_type, staff_id, at desc, id desc);
create index audit_entries_by_subject on audit_entries (resource_type, hashtext(subject), at desc, id desc);
create index audit_entries_by_procedure on audit_entries (resource_type, hashtext(procedure), at desc, id desc);

-- As migration 0010 has it, but of each type the oldest entries, `most` at most.
create or replace function sweep_audit_entries(before_time timestamptz, most integer) returns integer
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

-- An answer is stored together with its key.
alter table idempotency_keys alter column answer set not null;

-- Fails for a key with a stored answer, and with it all that has been sent behind it in the same transaction.
create or replace function refuse_known_key(key bytea) returns void
  language plpgsql stable
  as $$
begin
  if exists (select from idempotency_keys where id = key) then
    raise exception 'the idempotency key is known' using errcode = 'unique_violation', constraint = 'idempotency_keys_pkey';
  end if;
end $$;

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
