-- Up Migration

-- The counts of `coupon_usage` decide now, so they follow whoever deletes redemptions.
do $$
begin
  execute format($function$
    create function count_deleted_redemptions() returns trigger
      language plpgsql
      as $body$
    begin
      insert into %1$I.coupon_usage as counted (coupon_id, shard, held, used, released, expired, discount_used)
      select coupon_id, pg_backend_pid() %% 16, -count(*) filter (where state = 'HELD'), -count(*) filter (where state = 'USED'),
        -count(*) filter (where state = 'RELEASED'), -count(*) filter (where state = 'EXPIRED'),
        -coalesce(sum(discount_amount) filter (where state = 'USED'), 0)
      from old_rows group by coupon_id order by coupon_id
      on conflict (coupon_id, shard) do update set
        held = counted.held + excluded.held, used = counted.used + excluded.used,
        released = counted.released + excluded.released, expired = counted.expired + excluded.expired,
        discount_used = counted.discount_used + excluded.discount_used;
      return null;
    end $body$;
    create function count_no_redemptions() returns trigger
      language plpgsql
      as $body$
    begin
      delete from %1$I.coupon_usage;
      return null;
    end $body$
  $function$, current_schema());
end $$;
create trigger deleted_redemptions_counted after delete on redemptions
  referencing old table as old_rows for each statement execute function count_deleted_redemptions();
create trigger truncated_redemptions_counted after truncate on redemptions
  for each statement execute function count_no_redemptions();

-- When a coupon begins, and how many live redemptions it may have, of all users together. Null or 0: no limit.
alter table coupons add column starts_at timestamptz, add column max_uses integer, add constraint coupons_terms_sound check (
  max_uses >= 0 and starts_at >= '0001-01-01Z' and starts_at < '10000-01-01Z'
) not valid;
alter table reserved_coupons add column starts_at timestamptz, add column max_uses integer,
  add constraint reserved_coupons_terms_sound check (
    max_uses >= 0 and starts_at >= '0001-01-01Z' and starts_at < '10000-01-01Z'
  ) not valid;

insert into schema_parts
select 'constraint', unnest(array['coupons_terms_sound', 'reserved_coupons_terms_sound'])
union all select 'index', 'redemptions_by_end_of_hold_in_coupon'
union all select 'trigger', 'redemptions.' || unnest(array['deleted', 'truncated']) || '_redemptions_counted';
