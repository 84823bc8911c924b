-- Named coupons first, then those that staff gave to single customers by phone, then refunds.
insert into coupons
  (id, coupon_code, discount_percent, flat_discount, min_order, max_value, valid_till, max_limit_for_user, product_ids,
   max_uses, starts_at, exclusive_apply, is_invalidated, created_by, created_at)
select
  id, code, percent, flat, min_order, cap, now() + make_interval(hours => days * 24), most, products,
  case id when 9 then 60 when 16 then 40 end, case when id = 8 then now() + interval '144 hours' end,
  code in ('BIGBASKET500', 'FIRSTAPP'), code in ('OLDSTOCK', 'TESTFREE'),
  (id - 1) % 8 + 1, now() - make_interval(hours => case id when 24 then 46 else (id + 30) * 24 end)
from (values
  (1, 'WELCOME10', 10, null, null, 150, null, 1, null::integer[]),
  (2, 'FLAT50', null, 50, 499, null, null, null, null),
  (3, 'FLAT100', null, 100, 999, null, null, null, null),
  (4, 'SAVE20', 20, null, 1000, 500, 60, null, null),
  (5, 'WEEKEND15', 15, null, 750, 200, 3, null, null),
  (6, 'MONSOON25', 25, null, null, 250, -45, null, null),
  (7, 'DIWALI30', 30, null, 1500, 600, -10, null, null),
  (8, 'HOLI12', 12.5, null, null, 125, 120, null, null),
  (9, 'FREEDOM76', null, 76, 760, null, 270, null, null),
  (10, 'FRUITFEST', 18, null, null, 180, 5, null, array[10, 11, 12, 13, 14]),
  (11, 'DAIRY5', 5, null, null, null, null, null, array[18, 19, 20, 21, 22, 23]),
  (12, 'ATTA40', null, 40, 300, null, null, null, array[29, 30]),
  (13, 'TEATIME', null, 25.50, null, null, 6, null, array[49, 50, 51]),
  (14, 'SNACKATTACK', 8, null, null, 80, null, null, array[56, 57, 58, 59]),
  (15, 'BIGBASKET500', null, 500, 5000, null, null, 1, null),
  (16, 'NEIGHBOUR75', null, 75, 600, null, null, 2, null),
  (17, 'OLDSTOCK', 50, null, null, 100, null, null, null),
  (18, 'TESTFREE', 100, null, null, null, null, null, null),
  (19, 'STAFFMEAL', null, 120, null, null, null, null, null),
  (20, 'GOLDCLUB', 15, null, null, 750, null, 4, null),
  (21, 'COMEBACK', null, 150, 800, null, 45, 1, null),
  (22, 'SORRY100', null, 100, null, null, 25, 1, null),
  (23, 'REFERRAL50', null, 50, null, null, 90, null, null),
  (24, 'FIRSTAPP', 22, null, 350, 175, null, 1, null)
) as named (id, code, percent, flat, min_order, cap, days, most, products)
union all
select
  n + 25,
  format('DC%s%s%s', 4021 + n * 517, 118304 + n * 47219, (array['K7QX', 'M2ZP', 'R9TB'])[n % 3 + 1]),
  20, null, 1000, 500, now() + make_interval(hours => (90 - n * 8) * 24), 1, null,
  null, null, false, false, (n + 24) % 8 + 1, now() + make_interval(hours => (n - 52) * 31)
from generate_series(0, 15) as n;

insert into coupon_applicable_products (coupon_id, product_id)
select id, product_id from coupons, unnest(product_ids) as product_id order by id, product_id;

insert into coupon_applicable_users (coupon_id, user_id)
select coupon_id, user_id
from (values
  (19, array[3, 8, 21, 34]),
  (20, array[1, 5, 12, 40, 77, 101]),
  (21, array[60, 61, 62]),
  (22, array[90]),
  (23, array[14, 15, 16, 17, 18])
) as named (coupon_id, users), unnest(users) as user_id
union all
select n + 25, 100 + n * 5 from generate_series(0, 15) as n;

-- Refunds of canceled orders, as GenerateCancellationCoupon makes them (spec 4.2).
create temporary table refunds on commit drop as
select
  49 - row_number() over (order by order_id desc) as coupon_id, order_id, bookings.user_id, total_amount as amount, ended_at,
  upper(left(coalesce(name, mobile), 3)) || order_id as code
from bookings join users on users.id = bookings.user_id join orders on orders.id = order_id
where state = 'RELEASED' order by order_id desc limit 8;

insert into coupons
  (id, coupon_code, flat_discount, min_order, max_value, valid_till, max_limit_for_user, created_by, created_at)
select
  coupon_id, code, amount, amount, amount, ended_at + interval '720 hours', 1, (coupon_id - 41) % 3 + 1, ended_at
from refunds;

insert into coupon_applicable_users (coupon_id, user_id) select coupon_id, user_id from refunds order by coupon_id;

update order_statuses set refund_coupon_id = coupon_id from refunds where refunds.order_id = order_statuses.order_id;

-- The codes of a newsletter, each for one order.
insert into coupon_batches (id, name, count, created_by, created_at)
values (1, 'Diwali newsletter', 200, 5, now() - interval '1700 hours');

insert into coupons (id, coupon_code, discount_percent, min_order, max_value, valid_till, max_uses, batch_id, created_by, created_at)
select
  n + 48,
  'NEWS' || (
    select string_agg(substr('ABCDEFGHJKMNPQRSTUVWXYZ23456789', get_byte(decode(md5(n::text), 'hex'), place) % 31 + 1, 1), '')
    from generate_series(0, 9) as place
  ),
  15, 500, 200, now() + interval '600 hours', 1, batches.id, created_by, created_at
from generate_series(1, 200) as n, coupon_batches as batches;

update coupons set is_user_based = true where id in (select coupon_id from coupon_applicable_users);
update coupons set is_apply_for_all = true where not is_user_based;

-- Reserved coupons, whose secret codes are on printed cards. A third of them are redeemed.
insert into reserved_coupons
  (id, secret_code, coupon_code, discount_percent, flat_discount, min_order, max_value, product_ids, valid_till,
   max_limit_for_user, exclusive_apply, redeemed_by, created_by, created_at)
select
  n + 1,
  format('SECRET%s%s', 207113 + n * 51377, (array['A4XN7Q', 'P9KD2M', 'T3WZ8R'])[n % 3 + 1]),
  format('RESERVED%s', 300211 + n * 40009),
  case when n % 2 = 1 then 15 end,
  case when n % 2 = 0 then 50 + n * 25 end,
  case when n % 2 = 0 then 500 end,
  case when n % 2 = 1 then 300 end,
  case when n % 5 = 3 then pg_temp.ids(n, 4, 75) end,
  now() + make_interval(hours => (n - 2) * 24 * 12),
  1,
  n % 4 = 0,
  case when n % 3 = 1 then n * 9 + 1 end,
  n % 4 + 1,
  now() + make_interval(hours => (n - 16) * 53)
from generate_series(0, 14) as n;
