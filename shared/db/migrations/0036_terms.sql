-- Up Migration

-- When a coupon begins, and how many live redemptions it may have, of all users together. Null or 0: no limit.
alter table coupons
  add column starts_at timestamptz,
  add column max_uses integer constraint coupons_max_uses_check check (max_uses >= 0);
alter table reserved_coupons
  add column starts_at timestamptz,
  add column max_uses integer constraint reserved_coupons_max_uses_check check (max_uses >= 0);

-- The time is an expression, so that a query of it has this index alone to choose: no other one is fast whatever the data.
create index redemptions_by_end_of_hold_in_coupon on redemptions (coupon_id, (held_until at time zone 'UTC')) where state = 'HELD';

insert into schema_parts
select 'constraint', unnest(array['coupons_max_uses_check', 'reserved_coupons_max_uses_check'])
union all select 'index', 'redemptions_by_end_of_hold_in_coupon';
