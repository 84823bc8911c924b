-- The demo: a grocer in India, with times around now(). Its ids are the same each time, so that the documented calls can name them.

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

-- The picture of a product stands in its address, so nothing has to be loaded: a shape in the product's colour on a tint of it, for
-- light pages and dark ones, and a detail.
create temporary table shapes (shape text, body text, detail_colour text, detail text) on commit drop;
insert into shapes values
  ('round', 'M16 10a8.5 8.5 0 1 1-.1 0z', '5a4', 'M16 10q0-5 6-6 0 5-6 6z'),
  ('onion', 'M16 4q1 5 5 8a8.5 8.5 0 1 1-10 0q4-3 5-8z', 'fffb', 'M16 12q-5 8 0 14 5-6 0-14z'),
  ('potato', 'M8 13q5-8 13-3t5 12-10 4T8 13z', 'fffb', 'M13 15h2v2h-2zm6 4h2v2h-2zm-6 3h2v2h-2z'),
  ('pepper', 'M9 11q7-3 14 0 5 4 1 12-3 5-8 2-5 3-8-2-4-8 1-12z', '5a4', 'M15 5h3v6h-3z'),
  ('cabbage', 'M9 20a5 5 0 0 1 0-9 6 6 0 0 1 14 0 5 5 0 0 1 0 9z', '5a4', 'M5 18q5 2 11 2t11-2q-1 9-11 9T5 18z'),
  ('root', 'M22 11q3 4 0 6L8 27q-3 1-2-2l8-14q4-4 8 0z', '5a4', 'M20 11l1-7 3 3 4 1-2 3z'),
  ('leaf', 'M6 25Q4 7 26 6q1 20-17 17z', 'fffb', 'M5 27L20 12l1 1L7 28z'),
  ('banana', 'M6 7q2 12 19 12l2 3q-5 5-13 3Q3 22 4 7z', '642', 'M4 4h3v4H4z'),
  ('mango', 'M22 9q7 6 1 13t-15 3-2-10 16-6z', '5a4', 'M21 9q0-5 6-6 0 5-6 6z'),
  ('melon', 'M4 12h24q0 14-12 14T4 12z', 'd54', 'M7 12h18q-1 10-9 10T7 12z'),
  ('carton', 'M9 13l3-7h8l3 7v14H9z', 'fffb', 'M9 16h14v6H9z'),
  ('tub', 'M7 12h18l-2 14H9z', '8aa', 'M6 8h20v3H6z'),
  ('jar', 'M9 11h14q2 8 0 16H9q-2-8 0-16z', '875', 'M9 6h14v4H9z'),
  ('cheese', 'M5 18L22 7q5 3 5 11v8H5z', 'fffb', 'M9 20h4v3H9zm9-4h4v4h-4z'),
  ('egg', 'M16 5q9 9 9 14a9 8 0 0 1-18 0q0-5 9-14z', 'fffb', 'M11 19q0-4 3-7l1 1q-2 3-2 6z'),
  ('sack', 'M10 5h12l-2 4q8 6 6 18H6Q4 15 12 9z', 'fffb', 'M11 16h10v6H11z'),
  ('bowl', 'M4 16h24q0 11-8 11h-8q-8 0-8-11z', 'fd8', 'M7 15q9-13 18 0z'),
  ('bottle', 'M13 4h6v6q4 2 4 6v12H9V16q0-4 4-6z', 'fffb', 'M9 17h14v6H9z'),
  ('cup', 'M6 12h16v3h2q4 0 4 4t-5 4h-2q-1 4-7 4-8 0-8-7z', '999', 'M10 5h2v5h-2zm5 0h2v5h-2z'),
  ('glass', 'M8 6h16l-3 21H11z', 'fffb', 'M10 12h12l-1 5H11z'),
  ('packet', 'M8 5h16l-1 4v14l1 4H8l1-4V9z', 'fffb', 'M16 11a5 5 0 1 1-.1 0z'),
  ('biscuit', 'M16 5a11 11 0 1 1-.1 0z', 'fffb', 'M11 11h3v3h-3zm7 0h3v3h-3zm-3 8h3v3h-3z'),
  ('sweet', 'M16 4l10 12-10 12L6 16z', 'fffb', 'M16 11l4 5-4 5-4-5z'),
  ('box', 'M5 11l11-6 11 6v11l-11 6-11-6z', 'fffb', 'M16 16l8-4v8l-8 4z'),
  ('roll', 'M7 9q0-4 9-4t9 4v14q0 4-9 4t-9-4z', 'fffb', 'M12 9h8v2h-8z'),
  ('tube', 'M9 5h14l-3 17h-8z', '8aa', 'M13 23h6v4h-6z');

insert into products (id, name, images)
select
  id, product[1], array[format(
    $$data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><g fill='%%23%s'>$$
      || $$<path opacity='.2' d='M0 0h32v32H0z'/><path d='%s'/></g><path fill='%%23%s' d='%s'/></svg>$$,
    product[3], body, detail_colour, detail
  )]
from unnest(array[
  'Tomato Hybrid 1 kg|round|d43', 'Onion Nashik 1 kg|onion|a4578f', 'Potato Jyoti 2 kg|potato|a87b4a',
  'Green Capsicum 500 g|pepper|3a3', 'Cauliflower 1 pc|cabbage|b9b27a', 'Lady Finger 500 g|root|593',
  'Carrot Ooty 500 g|root|e72', 'Spinach Bunch 250 g|leaf|283', 'Coriander Leaves 100 g|leaf|4a4',
  'Banana Robusta 6 pcs|banana|d9a514', 'Apple Shimla 1 kg|round|c33', 'Mango Alphonso 6 pcs|mango|e92',
  'Pomegranate Bhagwa 1 kg|round|b24', 'Papaya Semi-ripe 1 pc|melon|e93', 'Sweet Lime 1 kg|round|9a3',
  'Watermelon Kiran 1 pc|melon|3a4', 'Guava Allahabad 500 g|round|7b3', 'Toned Milk 1 l|carton|48c',
  'Full Cream Milk 500 ml|carton|36a', 'Set Curd 400 g|tub|59c', 'Paneer Block 200 g|cheese|9a9478',
  'Salted Butter 500 g|cheese|db4', 'Cow Ghee 1 l|jar|da3', 'Farm Eggs 12 pcs|egg|c85',
  'Cheddar Slices 200 g|cheese|e93', 'Basmati Rice Aged 5 kg|sack|c96', 'Sona Masoori Rice 10 kg|sack|a85',
  'Idli Rice 2 kg|sack|b97', 'Whole Wheat Atta 5 kg|sack|d93', 'Multigrain Atta 1 kg|sack|a62', 'Besan 1 kg|sack|db4',
  'Sooji Fine 500 g|sack|c9a35f', 'Thick Poha 500 g|sack|bb8a4a', 'Toor Dal 1 kg|bowl|d92',
  'Moong Dal Yellow 1 kg|bowl|dc4', 'Chana Dal 1 kg|bowl|c83', 'Urad Dal Whole 500 g|bowl|667',
  'Masoor Dal 1 kg|bowl|d64', 'Kabuli Chana 1 kg|bowl|ca6', 'Rajma Chitra 500 g|bowl|a34',
  'Sunflower Oil 1 l|bottle|da2', 'Groundnut Oil 1 l|bottle|c83', 'Mustard Oil Kachi Ghani 1 l|bottle|b92',
  'Turmeric Powder 200 g|jar|e91', 'Red Chilli Powder 200 g|jar|d32', 'Garam Masala 100 g|jar|853',
  'Cumin Seeds 200 g|jar|a73', 'Black Pepper Whole 100 g|jar|445', 'Assam Tea 500 g|cup|b52',
  'Filter Coffee Powder 500 g|cup|643', 'Instant Coffee 100 g|jar|742', 'Tender Coconut Water 200 ml|glass|5a7',
  'Mango Drink 1.2 l|glass|e92', 'Mineral Water 1 l|bottle|39c', 'Masala Chaas 200 ml|glass|8a8a5a',
  'Aloo Bhujia 400 g|packet|d82', 'Banana Chips 200 g|packet|db2', 'Khakhra Methi 200 g|packet|7a3',
  'Roasted Makhana 80 g|packet|c69', 'Glucose Biscuits 800 g|biscuit|c83', 'Kaju Katli 250 g|sweet|a9a9b5',
  'Soan Papdi 500 g|sweet|da5', 'Mixed Fruit Jam 500 g|jar|c25', 'Dishwash Liquid Lemon 750 ml|bottle|9b3',
  'Laundry Powder 2 kg|box|47c', 'Floor Cleaner Pine 1 l|bottle|2a7', 'Garbage Bags Medium 30 pcs|box|555d66',
  'Agarbatti Sandal 100 pcs|box|96c', 'Kitchen Towel 2 rolls|roll|69b', 'Coconut Hair Oil 500 ml|bottle|5a9',
  'Neem Soap 4 x 100 g|box|4a5', 'Herbal Toothpaste 200 g|tube|3a6', 'Aloe Face Wash 100 ml|tube|6b5',
  'Sanitary Pads XL 30 pcs|box|d59', 'Baby Diapers M 50 pcs|box|59d'
]) with ordinality as given (text, id), string_to_array(text, '|') as product, shapes
where shape = product[2];

insert into product_groups (id, name)
select id, name from unnest(array[
  'Fresh Vegetables', 'Fresh Fruits', 'Dairy and Eggs', 'Rice and Atta', 'Dals and Pulses', 'Oils and Spices',
  'Beverages', 'Snacks and Sweets', 'Home Care', 'Personal Care'
]) with ordinality as product_group (name, id);
