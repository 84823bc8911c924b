-- The stores show all slots, and new records get the next ids.
insert into store_refresh_requests default values;

do $$
declare seeded text;
begin
  foreach seeded in array array[
    'staff_users', 'users', 'products', 'product_groups', 'slots', 'vendor_snippets', 'orders', 'coupons',
    'order_statuses', 'reserved_coupons', 'coupon_batches'
  ] loop
    execute format('select setval(pg_get_serial_sequence(%1$L, ''id''), max(id)) from %1$I', seeded);
  end loop;
end $$;

-- How many there are is nobody's concern: the documented calls name the next ones.
select setval(pg_get_serial_sequence(name, 'id'), 2000) from unnest(array['slot_bookings', 'redemptions']) as name;
