-- Up Migration

-- How long audit entries are kept, in one row; null: for ever. Only the owner of the schema writes it, so that the role of the
-- services can't shorten it.
create table audit_retention (days integer check (days > 0));
insert into audit_retention values (null);

-- As migration 0011 has it, but nothing goes before its retention has passed, whoever asks. Earlier releases give the time.
create or replace function sweep_audit_entries(before_time timestamptz, most integer) returns integer
  language sql volatile security definer
  -- Nothing of the caller's own, such as a temporary table, may stand for what the function names.
  set search_path = pg_catalog, pg_temp
  set audit.sweeping = 'on'
as $$
  with oldest as (
    select oldest.ctid
    from public.audit_retention, unnest(array['slot', 'coupon', 'reserved_coupon', 'user']) as types (type), lateral (
      select ctid from public.audit_entries
      where resource_type = type and at < least(before_time, now() - days * interval '1 day')
      order by at limit most for update skip locked
    ) as oldest
    where days is not null
  ),
  swept as (delete from public.audit_entries where ctid = any (array(select ctid from oldest)) returning 1)
  select count(*)::integer from swept
$$;
