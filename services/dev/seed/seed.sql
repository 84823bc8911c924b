-- The demo catalogue: a grocer in India, with times around now(). The same database each time, so that the documented
-- calls can name its records.

create function pg_temp.pick(items text[], index bigint) returns text language sql immutable
  return items[index % cardinality(items) + 1];

-- `size` distinct ids between 1 and `most`. The stride is prime, so that every id comes before any is repeated.
create function pg_temp.ids(start bigint, size bigint, most bigint) returns integer[] language sql immutable
  return array(
    select ((start * 13 + step * 31) % most + 1)::integer as id from generate_series(0, size - 1) as step order by id
  );

create function pg_temp.user_of(order_id bigint) returns integer language sql immutable return order_id * 37 % 200 + 1;
create function pg_temp.is_cancelled(order_id bigint) returns boolean language sql immutable return order_id % 14 = 9;

insert into staff_users (id, name)
select id, name from unnest(array[
  'Anjali Deshmukh', 'Rohit Kulkarni', 'Farah Siddiqui', 'Vikram Nair', 'Meena Subramanian', 'Joseph Fernandes',
  'Harpreet Kaur', 'Debashish Ghosh', 'Lakshmi Venkatesh'
]) with ordinality as staff (name, id);

-- Some customers have no name, and some no email.
insert into users (id, name, email, mobile, created_at)
select
  n + 1,
  case when n % 17 <> 11 then first || ' ' || last end,
  case when n % 17 <> 11 and n % 9 <> 4 then lower(format('%s.%s%s@example.com', first, last, n + 1)) end,
  -- The step and the range have no common factor, so no number is repeated.
  7000000000 + (n * 1236067979 + 812345677) % 3000000000,
  now() - make_interval(hours => (400 - n::integer * 2) * 24)
from generate_series(0::bigint, 199) as n,
  pg_temp.pick(array[
    'Aarav', 'Aditi', 'Ajay', 'Akash', 'Amrita', 'Ananya', 'Arjun', 'Asha', 'Bhavna', 'Chetan', 'Deepa', 'Divya',
    'Esha', 'Farhan', 'Gaurav', 'Geeta', 'Harish', 'Imran', 'Ishita', 'Jaya', 'Karan', 'Kavya', 'Kiran', 'Lalit', 'Madhuri',
    'Manish', 'Naina', 'Neha', 'Nikhil', 'Pooja', 'Pranav', 'Priya', 'Rahul', 'Rekha', 'Ritu', 'Sanjay', 'Shreya',
    'Sunita', 'Tanvi', 'Yusuf'
  ], n * 7 + n / 40) as first,
  pg_temp.pick(array[
    'Agarwal', 'Banerjee', 'Bhat', 'Chopra', 'Das', 'Gupta', 'Iyer', 'Jain', 'Joshi', 'Kapoor', 'Khan', 'Mehta',
    'Menon', 'Mishra', 'Patel', 'Pillai', 'Rao', 'Reddy', 'Shah', 'Sharma', 'Singh', 'Thomas', 'Verma'
  ], n * 5 + 3) as last;

insert into products (id, name, images)
select
  id,
  name,
  array(
    select format('https://images.example.com/products/%s-%s.jpg', slug, view)
    from regexp_replace(lower(name), '[^a-z0-9]+', '-', 'g') as slug, generate_series(1, (id - 1) % 3 + 1) as view
  )
from unnest(array[
  'Tomato Hybrid 1 kg', 'Onion Nashik 1 kg', 'Potato Jyoti 2 kg', 'Green Capsicum 500 g', 'Cauliflower 1 pc',
  'Lady Finger 500 g', 'Carrot Ooty 500 g', 'Spinach Bunch 250 g', 'Coriander Leaves 100 g',
  'Banana Robusta 6 pcs', 'Apple Shimla 1 kg', 'Mango Alphonso 6 pcs', 'Pomegranate Bhagwa 1 kg',
  'Papaya Semi-ripe 1 pc', 'Sweet Lime 1 kg', 'Watermelon Kiran 1 pc', 'Guava Allahabad 500 g',
  'Toned Milk 1 l', 'Full Cream Milk 500 ml', 'Set Curd 400 g', 'Paneer Block 200 g', 'Salted Butter 500 g',
  'Cow Ghee 1 l', 'Farm Eggs 12 pcs', 'Cheddar Slices 200 g',
  'Basmati Rice Aged 5 kg', 'Sona Masoori Rice 10 kg', 'Idli Rice 2 kg', 'Whole Wheat Atta 5 kg',
  'Multigrain Atta 1 kg', 'Besan 1 kg', 'Sooji Fine 500 g', 'Thick Poha 500 g',
  'Toor Dal 1 kg', 'Moong Dal Yellow 1 kg', 'Chana Dal 1 kg', 'Urad Dal Whole 500 g', 'Masoor Dal 1 kg',
  'Kabuli Chana 1 kg', 'Rajma Chitra 500 g',
  'Sunflower Oil 1 l', 'Groundnut Oil 1 l', 'Mustard Oil Kachi Ghani 1 l', 'Turmeric Powder 200 g',
  'Red Chilli Powder 200 g', 'Garam Masala 100 g', 'Cumin Seeds 200 g', 'Black Pepper Whole 100 g',
  'Assam Tea 500 g', 'Filter Coffee Powder 500 g', 'Instant Coffee 100 g', 'Tender Coconut Water 200 ml',
  'Mango Drink 1.2 l', 'Mineral Water 1 l', 'Masala Chaas 200 ml',
  'Aloo Bhujia 400 g', 'Banana Chips 200 g', 'Khakhra Methi 200 g', 'Roasted Makhana 80 g',
  'Glucose Biscuits 800 g', 'Kaju Katli 250 g', 'Soan Papdi 500 g', 'Mixed Fruit Jam 500 g',
  'Dishwash Liquid Lemon 750 ml', 'Laundry Powder 2 kg', 'Floor Cleaner Pine 1 l', 'Garbage Bags Medium 30 pcs',
  'Agarbatti Sandal 100 pcs', 'Kitchen Towel 2 rolls',
  'Coconut Hair Oil 500 ml', 'Neem Soap 4 x 100 g', 'Herbal Toothpaste 200 g', 'Aloe Face Wash 100 ml',
  'Sanitary Pads XL 30 pcs', 'Baby Diapers M 50 pcs'
]) with ordinality as product (name, id);

insert into product_groups (id, name)
select id, name from unnest(array[
  'Fresh Vegetables', 'Fresh Fruits', 'Dairy and Eggs', 'Rice and Atta', 'Dals and Pulses', 'Oils and Spices',
  'Beverages', 'Snacks and Sweets', 'Home Care', 'Personal Care'
]) with ordinality as product_group (name, id);

-- From three days ago to four days ahead: morning, noon, evening and night in India. Those of the last 24 hours are
-- still active, and some have a delivery sequence.
insert into slots (id, delivery_time, freeze_time, is_active, is_capacity_full, group_ids, delivery_sequence)
select
  n + 1,
  midnight + hour,
  midnight + hour - make_interval(hours => (array[4, 6, 8])[n % 3 + 1]),
  midnight + hour >= now() or hour > interval '-24 hours',
  n % 6 = 4,
  pg_temp.ids(n, 2 + n % 4, 10),
  case when n % 4 = 1
    then (select jsonb_object_agg(pg_temp.user_of(id), array[id]) from generate_series(120 + n * 6, 123 + n * 6) as id)
    else '{}'
  end
from (
  select row_number() over (order by day, hour) - 1 as n, make_interval(hours => day * 24, mins => hour) as hour
  from unnest(array[-3, -2, -1, 0, 1, 2, 3, 4], array[3, 2, 4, 3, 2, 4, 3, 3]) as planned (day, size),
    lateral unnest((array[150, 390, 690, 870])[:size]) as hour
) as slot, date_trunc('day', now(), 'UTC') as midnight;

insert into product_slots (slot_id, product_id)
select id, product_id from slots, unnest(pg_temp.ids(id - 1, 15 + (id - 1) * 7 % 26, 75)) as product_id;

-- Vendor snippets: the products that a vendor brings for a slot.
insert into vendor_snippets (id, snippet_code, slot_id, product_ids, valid_till)
select
  n + 1,
  pg_temp.pick(array['sahyadri-farms', 'gokul-dairy', 'deccan-grains', 'konkan-fruits'], n)
    || to_char(n + 1, '"-"FM00'),
  (select count(*) from slots) - n,
  pg_temp.ids(n * 3, 3 + n % 5, 75),
  case when n % 3 <> 2 then now() + make_interval(hours => 24 * (n - 1)) end
from generate_series(0, 11) as n;

-- Orders of the last weeks. A few came by phone and have no user.
insert into orders (id, user_id, total_amount, created_at)
select
  n + 1,
  case when n >= 100 or n % 25 <> 24 then pg_temp.user_of(n + 1) end,
  format('%s.%s', 180 + n * 157 % 2900, to_char(n * 35 % 100, 'FM00'))::numeric,
  now() + make_interval(hours => (n - 300) * 3)
from generate_series(0, 299) as n;

-- Named coupons first, then those that staff gave to single customers by phone, then refunds.
insert into coupons
  (id, coupon_code, discount_percent, flat_discount, min_order, max_value, valid_till, max_limit_for_user, product_ids,
   exclusive_apply, is_invalidated, created_by, created_at)
select
  id, code, percent, flat, min_order, cap, now() + make_interval(hours => days * 24), most, products,
  code in ('BIGBASKET500', 'FIRSTAPP'), code in ('OLDSTOCK', 'TESTFREE'),
  (id - 1) % 8 + 1, now() + make_interval(mins => (id - 41) * 31 * 60 - 30)
from (values
  (1, 'WELCOME10', 10, null, null, 150, null, 1, null::integer[]),
  (2, 'FLAT50', null, 50, 499, null, null, null, null),
  (3, 'FLAT100', null, 100, 999, null, null, null, null),
  (4, 'SAVE20', 20, null, 1000, 500, 60, null, null),
  (5, 'WEEKEND15', 15, null, 750, 200, 30, null, null),
  (6, 'MONSOON25', 25, null, null, 250, -45, null, null),
  (7, 'DIWALI30', 30, null, 1500, 600, -10, null, null),
  (8, 'HOLI12', 12.5, null, null, 125, 120, null, null),
  (9, 'FREEDOM76', null, 76, 760, null, 270, null, null),
  (10, 'FRUITFEST', 18, null, null, 180, 20, null, array[10, 11, 12, 13, 14]),
  (11, 'DAIRY5', 5, null, null, null, null, null, array[18, 19, 20, 21, 22, 23]),
  (12, 'ATTA40', null, 40, 300, null, null, null, array[29, 30]),
  (13, 'TEATIME', null, 25.50, null, null, 14, null, array[49, 50, 51]),
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
  false, false, (n + 24) % 8 + 1, now() + make_interval(mins => (n - 16) * 31 * 60 - 30)
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
  49 - row_number() over (order by orders.id desc) as coupon_id, orders.id as order_id, user_id, total_amount as amount,
  upper(left(coalesce(name, mobile), 3)) || orders.id as code
from orders join users on users.id = user_id where pg_temp.is_cancelled(orders.id) order by orders.id desc limit 8;

insert into coupons
  (id, coupon_code, flat_discount, min_order, max_value, valid_till, max_limit_for_user, created_by, created_at)
select
  coupon_id, code, amount, amount, amount, now() + interval '720 hours', 1,
  (coupon_id - 41) % 3 + 1, now() - make_interval(secs => 900 + (49 - coupon_id) * 36)
from refunds;

insert into coupon_applicable_users (coupon_id, user_id) select coupon_id, user_id from refunds order by coupon_id;

update coupons set is_user_based = true where id in (select coupon_id from coupon_applicable_users);
update coupons set is_apply_for_all = true where not is_user_based;

insert into order_statuses (id, order_id, is_cancelled, is_delivered, refund_coupon_id)
select id, id, pg_temp.is_cancelled(id), not pg_temp.is_cancelled(id) and id <= 240, coupon_id
from orders left join refunds on order_id = id;

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

insert into store_refresh_requests default values;

do $$
declare seeded text;
begin
  foreach seeded in array array[
    'staff_users', 'users', 'products', 'product_groups', 'slots', 'vendor_snippets', 'orders', 'coupons',
    'order_statuses', 'reserved_coupons'
  ] loop
    execute format('select setval(pg_get_serial_sequence(%1$L, ''id''), max(id)) from %1$I', seeded);
  end loop;
end $$;
