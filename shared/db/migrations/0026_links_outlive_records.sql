-- Up Migration

-- Other systems delete users and products. What they delete never widens a coupon: its links outlive the records, so that one for a
-- product that is gone is still for that product alone, and a secret code that a deleted user redeemed stays redeemed.
alter table coupon_applicable_users drop constraint if exists coupon_applicable_users_user_id_fkey;
alter table coupon_applicable_products drop constraint if exists coupon_applicable_products_product_id_fkey;
alter table reserved_coupon_applicable_products drop constraint if exists reserved_coupon_applicable_products_product_id_fkey;
alter table reserved_coupons drop constraint if exists reserved_coupons_redeemed_by_fkey;

-- A link's id identifies nothing but the link in an answer. Its numbers begin again at their end: they never run out.
do $$
declare
  name text;
begin
  foreach name in array array['coupon_applicable_users', 'coupon_applicable_products', 'reserved_coupon_applicable_products'] loop
    execute format('alter sequence %s cycle', pg_get_serial_sequence(name, 'id'));
  end loop;
end $$;
