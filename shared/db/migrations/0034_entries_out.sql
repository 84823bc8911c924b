-- Up Migration

-- The last entry that retention has deleted. Whoever has read up to it has missed nothing.
alter table audit_retention add column swept_id bigint, add column swept_at timestamptz;

-- How far the webhooks of each service are.
create table webhook_deliveries (
  service text collate "C" primary key,
  -- The last entry that was taken; null: none was sent yet. Behind it come those of the batch that is being sent, up to its end.
  sent_id bigint,
  batch_end bigint,
  failures integer not null default 0,
  -- Nobody sends before this time: a replica is sending, or the last batch was not taken. Each that begins to send counts up,
  -- so that one which lost the time can't write any more.
  due_at timestamptz not null default now(),
  claims bigint not null default 0,
  -- False while the service runs without EVENTS_URL, and retention need not keep what is unsent.
  is_active boolean not null default false
);
insert into webhook_deliveries (service) values ('slot-service'), ('coupon-service');
insert into schema_parts values ('constraint', 'webhook_deliveries_pkey'), ('grant', 'SELECT on webhook_deliveries'),
  ('grant', 'INSERT on webhook_deliveries'), ('grant', 'UPDATE on webhook_deliveries'), ('grant', 'DELETE on webhook_deliveries');

-- As migration 0032 has it, but it keeps what webhooks have not sent, and tells what it has deleted.
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
        (select coalesce(min(sent_id), 9223372036854775807) as id from %1$I.webhook_deliveries where is_active) as sent,
        unnest(array['slot', 'coupon', 'reserved_coupon', 'user', 'redemption', 'coupon_batch', 'booking', 'product',
          'product_group', 'order']) as types (type), lateral (
          select ctid from %1$I.audit_entries
          where resource_type = type and at < least(before_time, now() - days * interval '1 day') and id <= sent.id
          order by at limit most for update skip locked
        ) as oldest
        where days is not null
      ),
      swept as (delete from %1$I.audit_entries where ctid = any (array(select ctid from oldest)) returning id, at),
      told as (
        update %1$I.audit_retention set swept_id = last.id, swept_at = last.at
        from (select id, at from swept order by id desc limit 1) as last
        where swept_id is null or swept_id < last.id
      )
      select count(*)::integer from swept
    $body$
  $function$, current_schema());
end $$;
