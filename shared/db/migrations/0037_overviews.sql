-- Up Migration

-- How many redemptions are used, and their discounts, by the quarter of an hour in which they were: the time zones of the world
-- differ by whole quarters.
create table folded_uses (
  quarter timestamptz primary key,
  uses bigint not null,
  discount_used numeric not null
);
-- What has changed since. A sweep folds it. It is only appended to, so that the orders of all coupons, which count in one row then,
-- don't wait for one another; and it has no index, because it is read as a whole.
create table unfolded_uses (
  used_at timestamptz not null,
  uses integer not null,
  discount_used numeric not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
alter table unfolded_uses replica identity full;

-- Coupons of which few uses may be left: a tenth of `max_uses` is at least 1. `live` is the sum of `held` and `used` in `coupon_usage`.
create table limited_coupons (
  coupon_id integer primary key references coupons on delete cascade,
  max_uses bigint not null,
  ends_at timestamptz not null,
  live bigint not null
);
create index limited_coupons_nearly_used_up on limited_coupons (ends_at, coupon_id) where live < max_uses and live * 10 >= max_uses * 9;

do $$
begin
  execute format($function$
    -- Once for each row, because a statement of a call changes only one, and this takes a third of the time.
    create function append_use() returns trigger
      language plpgsql
      as $body$
    begin
      if new.state = 'USED' and new.used_at is not null then
        insert into %1$I.unfolded_uses values (new.used_at, 1, new.discount_amount);
      end if;
      if old.state = 'USED' and old.used_at is not null then
        insert into %1$I.unfolded_uses values (old.used_at, -1, -old.discount_amount);
      end if;
      return null;
    end $body$;

    -- As migration 0024 has it, but without a join, which took longer, and it counts the amounts that somebody has changed by hand.
    create or replace function count_changed_redemptions() returns trigger
      language plpgsql
      as $body$
    begin
      insert into %1$I.coupon_usage as counted (coupon_id, shard, held, used, released, expired, discount_used)
      select coupon_id, pg_backend_pid() %% 16, held, used, released, expired, discount_used
      from (
        select coupon_id,
          coalesce(sum(sign) filter (where state = 'HELD'), 0) as held, coalesce(sum(sign) filter (where state = 'USED'), 0) as used,
          coalesce(sum(sign) filter (where state = 'RELEASED'), 0) as released,
          coalesce(sum(sign) filter (where state = 'EXPIRED'), 0) as expired,
          coalesce(sum(sign * discount_amount) filter (where state = 'USED'), 0) as discount_used
        from (select *, 1 as sign from new_rows union all select *, -1 from old_rows) as changes group by coupon_id
      ) as sums
      where (held, used, released, expired, discount_used) <> (0, 0, 0, 0, 0) order by coupon_id
      on conflict (coupon_id, shard) do update set
        held = counted.held + excluded.held, used = counted.used + excluded.used,
        released = counted.released + excluded.released, expired = counted.expired + excluded.expired,
        discount_used = counted.discount_used + excluded.discount_used;
      return null;
    end $body$;

    create function count_live_uses() returns trigger
      language plpgsql
      as $body$
    begin
      update %1$I.limited_coupons set live = live + new.held + new.used - coalesce(old.held + old.used, 0)
      where coupon_id = new.coupon_id;
      return null;
    end $body$;

    create or replace function count_no_redemptions() returns trigger
      language plpgsql
      as $body$
    begin
      delete from %1$I.coupon_usage;
      delete from %1$I.folded_uses;
      delete from %1$I.unfolded_uses;
      update %1$I.limited_coupons set live = 0 where live <> 0;
      return null;
    end $body$;

    -- A coupon that had no limit may be in use: its lock waits for the calls that don't see the new row.
    create function limit_coupons() returns trigger
      language plpgsql
      as $body$
    begin
      if tg_op = 'UPDATE' then
        perform pg_advisory_xact_lock(hashtext(%1$I.own_name('all uses of a coupon')), id)
        from new_rows where max_uses >= 10 and (select count(*) from new_rows) = 1
          and not exists (select from %1$I.limited_coupons where coupon_id = id);
        delete from %1$I.limited_coupons using new_rows
        where coupon_id = id and (coalesce(new_rows.max_uses, 0) < 10 or is_invalidated);
      end if;
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

-- Whoever uses a coupon waits from here on, until all is counted.
create trigger new_uses_appended after insert on redemptions
  for each row when (new.state = 'USED') execute function append_use();
create trigger changed_uses_appended after update on redemptions
  for each row when (new.state = 'USED' or old.state = 'USED') execute function append_use();
create trigger deleted_uses_appended after delete on redemptions
  for each row when (old.state = 'USED') execute function append_use();
create trigger new_live_uses_counted after insert on coupon_usage
  for each row when (new.held + new.used <> 0) execute function count_live_uses();
create trigger changed_live_uses_counted after update on coupon_usage
  for each row when (new.held + new.used <> old.held + old.used) execute function count_live_uses();
create trigger new_coupons_limited after insert on coupons
  referencing new table as new_rows for each statement execute function limit_coupons();
create trigger changed_coupons_limited after update on coupons
  referencing new table as new_rows for each statement execute function limit_coupons();

insert into folded_uses
select date_bin('15 minutes', used_at, '2000-01-01Z') as quarter, count(*), sum(discount_amount)
from redemptions where state = 'USED' and used_at is not null group by quarter;
insert into limited_coupons
select id, max_uses, coalesce(valid_till, 'infinity'), coalesce((select sum(held + used) from coupon_usage where coupon_id = id), 0)
from coupons where max_uses >= 10 and not is_invalidated;

insert into schema_parts
select 'constraint', unnest(array['folded_uses_pkey', 'limited_coupons_pkey', 'limited_coupons_coupon_id_fkey'])
union all select 'index', unnest(array[
  'slots_by_closing', 'coupons_by_end', 'coupons_without_batch', 'coupons_search_without_batch', 'limited_coupons_nearly_used_up'
])
union all select 'trigger', unnest(array[
  'redemptions.new_uses_appended', 'redemptions.changed_uses_appended', 'redemptions.deleted_uses_appended',
  'coupon_usage.new_live_uses_counted', 'coupon_usage.changed_live_uses_counted', 'coupons.new_coupons_limited',
  'coupons.changed_coupons_limited'
])
union all select 'grant', privilege || ' on ' || name
from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as privilege, unnest(array['folded_uses', 'unfolded_uses', 'limited_coupons']) as name;

-- Triggers write the new tables with the rights of whoever writes redemptions and coupons: the services of the release before, too, which
-- go on while the next migrations run.
do $$
declare
  role text;
begin
  for role in
    select distinct grantee::regrole::text from pg_class, aclexplode(relacl)
    where oid = 'coupon_usage'::regclass and grantee not in (0, relowner) and privilege_type = 'UPDATE'
  loop
    execute format('grant select, insert, update, delete on folded_uses, unfolded_uses, limited_coupons to %s', role);
  end loop;
end $$;
