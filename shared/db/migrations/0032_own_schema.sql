-- Up Migration

-- The tables may be in a schema of any name, beside those of another deployment or business. What a database has once for all of its
-- schemas, such as notification channels, advisory locks and BullMQ's queues, then has a name with the schema's in it. In `public` it has
-- the name that earlier releases know.
create function own_name(name text) returns text
  language sql stable
  return case current_schema() when 'public' then name else current_schema() || '.' || name end;

-- Whoever changes a coupon by hand may have another search path. The functions name their table with its schema: setting the path for
-- each call takes a sixth of the time to insert a redemption.
do $$
declare
  named record;
begin
  for named in select * from (values
    ('count_invalidated', 'coupon_batches'), ('count_new_redemptions', 'coupon_usage'), ('count_changed_redemptions', 'coupon_usage')
  ) as functions (name, counts) loop
    execute replace(pg_get_functiondef(named.name::regproc), ' ' || named.counts || ' ', format(' %I.%I ', current_schema(), named.counts));
  end loop;
end $$;

-- As migration 0024 has it, but in this schema, and for the types that this release adds.
do $$
begin
  execute format($function$
    create or replace function sweep_audit_entries(before_time timestamptz, most integer) returns integer
      language sql volatile security definer
      -- Nothing of the caller's own, such as a temporary table, may stand for what the function names.
      set search_path = pg_catalog, pg_temp
      set audit.sweeping = 'on'
    as $body$
      with oldest as (
        select oldest.ctid
        from %1$I.audit_retention,
        unnest(array['slot', 'coupon', 'reserved_coupon', 'user', 'redemption', 'coupon_batch', 'booking', 'product',
          'product_group', 'order']) as types (type), lateral (
          select ctid from %1$I.audit_entries
          where resource_type = type and at < least(before_time, now() - days * interval '1 day')
          order by at limit most for update skip locked
        ) as oldest
        where days is not null
      ),
      swept as (delete from %1$I.audit_entries where ctid = any (array(select ctid from oldest)) returning 1)
      select count(*)::integer from swept
    $body$
  $function$, current_schema());
end $$;
