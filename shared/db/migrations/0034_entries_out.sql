-- Up Migration

-- Whether retention has deleted an entry. Until then, a trail without entries is a position to go on from.
alter table audit_retention add column has_swept boolean not null default false;

-- The webhooks of each service, which only services with EVENTS_URL send.
create table webhook_deliveries (
  service text collate "C" primary key,
  -- The last entry that was taken. Behind it come those of the batch that is being sent, up to its last one.
  sent_id bigint not null,
  batch_end bigint,
  failures integer not null default 0,
  -- Nobody sends before this time: a replica is sending, or the last batch was not taken. Each that begins to send counts up,
  -- so that one which lost the time can't write any more.
  due_at timestamptz not null default now(),
  claims bigint not null default 0,
  -- False while the service runs without EVENTS_URL, and retention need not keep what is unsent.
  is_active boolean not null default true
);
insert into schema_parts values ('constraint', 'webhook_deliveries_pkey'), ('grant', 'SELECT on webhook_deliveries'),
  ('grant', 'INSERT on webhook_deliveries'), ('grant', 'UPDATE on webhook_deliveries'), ('grant', 'DELETE on webhook_deliveries');

-- As migration 0032 has it, but it keeps what webhooks have not sent, and the last entry, which is the position of all who wait
-- for the next one.
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
        (
          select least(max(id) - 1, (select min(sent_id) from %1$I.webhook_deliveries where is_active)) as id
          from %1$I.audit_entries
        ) as last,
        unnest(array['slot', 'coupon', 'reserved_coupon', 'user', 'redemption', 'coupon_batch', 'booking', 'product',
          'product_group', 'order']) as types (type), lateral (
          select ctid from %1$I.audit_entries
          where resource_type = type and at < least(before_time, now() - days * interval '1 day') and id <= last.id
          order by at limit most for update skip locked
        ) as oldest
        where days is not null
      ),
      swept as (delete from %1$I.audit_entries where ctid = any (array(select ctid from oldest)) returning 1),
      told as (update %1$I.audit_retention set has_swept = true where not has_swept and exists (select from swept))
      select count(*)::integer from swept
    $body$
  $function$, current_schema());
end $$;
