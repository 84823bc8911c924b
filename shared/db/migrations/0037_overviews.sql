-- Up Migration

-- First, because they take long: calls that read wait only for what comes last.
create index slots_by_closing on slots (least(delivery_time, freeze_time), id) where is_active;
create index coupons_by_end on coupons (valid_till, id) where batch_id is null and not is_invalidated;
create index coupons_without_batch on coupons (created_at desc, id desc) include (coupon_code) where batch_id is null;
create index coupons_search_without_batch on coupons using gin (search_grams(coupon_code, 1)) where batch_id is null;

-- How many redemptions are used, and their discounts, by the quarter of an hour in which they were: the time zones of the world
-- differ by whole quarters. Each connection counts in a row of its own, so that the orders of all coupons don't wait for one another.
-- A sweep folds the rows of a past quarter into that of backend 0.
create table redemption_quarters (
  quarter timestamptz,
  backend integer,
  uses bigint not null,
  discount_used numeric not null,
  primary key (quarter, backend)
);
create index redemption_quarters_unfolded on redemption_quarters (quarter) where backend <> 0;

-- Coupons that few uses of may be left of: a tenth of `max_uses` is at least 1. `live` has the uses that are held, those whose hold
-- has run out included, and the used ones.
create table limited_coupons (
  coupon_id integer primary key references coupons on delete cascade,
  max_uses bigint not null,
  ends_at timestamptz not null,
  live bigint not null
);
create index limited_coupons_nearly_used_up on limited_coupons (ends_at, coupon_id) where live < max_uses and live * 10 >= max_uses * 9;

-- Counts whoever writes, as migrations 0024 and 0036 do, once for each statement, and in the order of coupons and quarters, so that
-- no two statements wait for one another. Nobody uses a coupon until it is counted.
lock table redemptions in share row exclusive mode;
do $$
declare
  event record;
begin
  for event in select * from (values
    ('new', 'select *, 1 as sign from new_rows'),
    ('deleted', 'select *, -1 as sign from old_rows'),
    ('changed', 'select *, 1 as sign from new_rows union all select *, -1 from old_rows')
  ) as events (name, changes) loop
    execute format($function$
      create or replace function count_%1$s_redemptions() returns trigger
        language plpgsql
        as $body$
      begin
        with changes as materialized (
          select coupon_id, state, sign, sign * discount_amount as discount, date_bin('15 minutes', used_at, '2000-01-01Z') as quarter
          from (%3$s) as changes
        ),
        of_coupons as materialized (
          select coupon_id,
            coalesce(sum(sign) filter (where state = 'HELD'), 0) as held, coalesce(sum(sign) filter (where state = 'USED'), 0) as used,
            coalesce(sum(sign) filter (where state = 'RELEASED'), 0) as released,
            coalesce(sum(sign) filter (where state = 'EXPIRED'), 0) as expired,
            coalesce(sum(discount) filter (where state = 'USED'), 0) as discount_used
          from changes group by coupon_id
        ),
        usage as (
          insert into %2$I.coupon_usage as counted (coupon_id, shard, held, used, released, expired, discount_used)
          select coupon_id, pg_backend_pid() %% 16, held, used, released, expired, discount_used
          from of_coupons where (held, used, released, expired, discount_used) <> (0, 0, 0, 0, 0) order by coupon_id
          on conflict (coupon_id, shard) do update set
            held = counted.held + excluded.held, used = counted.used + excluded.used,
            released = counted.released + excluded.released, expired = counted.expired + excluded.expired,
            discount_used = counted.discount_used + excluded.discount_used
        ),
        limits as (
          select limited_coupons.coupon_id, held + used as more
          from of_coupons join %2$I.limited_coupons using (coupon_id) where held + used <> 0
          order by coupon_id for no key update of limited_coupons
        ),
        limited as (
          update %2$I.limited_coupons set live = live + more from limits where limited_coupons.coupon_id = limits.coupon_id
        )
        insert into %2$I.redemption_quarters as counted (quarter, backend, uses, discount_used)
        select quarter, pg_backend_pid(), sum(sign), sum(discount)
        from changes where state = 'USED' and quarter is not null
        group by quarter having (sum(sign), sum(discount)) <> (0, 0) order by quarter
        on conflict (quarter, backend) do update set
          uses = counted.uses + excluded.uses, discount_used = counted.discount_used + excluded.discount_used;
        return null;
      end $body$
    $function$, event.name, current_schema(), event.changes);
  end loop;
  execute format($function$
    create or replace function count_no_redemptions() returns trigger
      language plpgsql
      as $body$
    begin
      delete from %1$I.coupon_usage;
      delete from %1$I.redemption_quarters;
      update %1$I.limited_coupons set live = 0 where live <> 0;
      return null;
    end $body$;
    -- A coupon that had no limit may be in use meanwhile: its lock waits for those calls.
    create function limit_coupons() returns trigger
      language plpgsql
      as $body$
    begin
      perform pg_advisory_xact_lock(hashtext(%1$I.own_name('all uses of a coupon')), id)
      from new_rows where tg_op = 'UPDATE' and max_uses >= 10 and (select count(*) from new_rows) = 1;
      delete from %1$I.limited_coupons using new_rows
      where tg_op = 'UPDATE' and coupon_id = id and (new_rows.max_uses is null or new_rows.max_uses < 10 or is_invalidated);
      insert into %1$I.limited_coupons as kept (coupon_id, max_uses, ends_at, live)
      select id, max_uses, coalesce(valid_till, 'infinity'), coalesce(live, 0)
      from new_rows left join lateral (
        select sum(held + used) as live from %1$I.coupon_usage where coupon_id = id
      ) as usage on true
      where max_uses >= 10 and not is_invalidated order by id
      on conflict (coupon_id) do update set max_uses = excluded.max_uses, ends_at = excluded.ends_at
      where (kept.max_uses, kept.ends_at) <> (excluded.max_uses, excluded.ends_at);
      return null;
    end $body$
  $function$, current_schema());
end $$;
create trigger new_coupons_limited after insert on coupons
  referencing new table as new_rows for each statement execute function limit_coupons();
create trigger changed_coupons_limited after update on coupons
  referencing new table as new_rows for each statement execute function limit_coupons();

insert into redemption_quarters
select date_bin('15 minutes', used_at, '2000-01-01Z') as quarter, 0, count(*), sum(discount_amount)
from redemptions where state = 'USED' and used_at is not null group by quarter;
insert into limited_coupons
select id, max_uses, coalesce(valid_till, 'infinity'), coalesce((select sum(held + used) from coupon_usage where coupon_id = id), 0)
from coupons where max_uses >= 10 and not is_invalidated;

insert into schema_parts
select 'constraint', unnest(array['redemption_quarters_pkey', 'limited_coupons_pkey', 'limited_coupons_coupon_id_fkey'])
union all select 'index', unnest(array[
  'slots_by_closing', 'coupons_by_end', 'coupons_without_batch', 'coupons_search_without_batch', 'redemption_quarters_unfolded',
  'limited_coupons_nearly_used_up'
])
union all select 'trigger', 'coupons.' || unnest(array['new', 'changed']) || '_coupons_limited'
union all select 'grant', privilege || ' on ' || name
from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as privilege, unnest(array['redemption_quarters', 'limited_coupons']) as name;
