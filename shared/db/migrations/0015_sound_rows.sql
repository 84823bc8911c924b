-- Up Migration

-- What no answer can show stays out: times outside the years 1 to 9999, amounts that are not finite or below 0, and lists that have
-- nulls or several dimensions. Rows from before are looked at after the migration (shared/db/odd-rows.ts): one of them must not stop
-- an upgrade. One constraint a table, because PostgreSQL parses each anew for every statement that writes.
alter table slots add constraint slots_sound check (
  least(delivery_time, freeze_time) >= '0001-01-01Z' and greatest(delivery_time, freeze_time) < '10000-01-01Z'
  and coalesce(array_ndims(group_ids), 1) = 1 and array_position(group_ids, null) is null
) not valid;

alter table vendor_snippets add constraint vendor_snippets_sound check (
  (valid_till is null or valid_till >= '0001-01-01Z' and valid_till < '10000-01-01Z')
  and coalesce(array_ndims(product_ids), 1) = 1 and array_position(product_ids, null) is null
) not valid;

alter table coupons add constraint coupons_sound check (
  least(created_at, valid_till) >= '0001-01-01Z' and greatest(created_at, valid_till) < '10000-01-01Z'
  -- NaN is greater than infinity.
  and coalesce(least(discount_percent, flat_discount, min_order, max_value), 0) >= 0
  and coalesce(greatest(discount_percent, flat_discount, min_order, max_value), 0) < 'Infinity'
  and coalesce(array_ndims(product_ids), 1) = 1 and array_position(product_ids, null) is null
) not valid;

alter table reserved_coupons add constraint reserved_coupons_sound check (
  least(created_at, valid_till) >= '0001-01-01Z' and greatest(created_at, valid_till) < '10000-01-01Z'
  and coalesce(least(discount_percent, flat_discount, min_order, max_value), 0) >= 0
  and coalesce(greatest(discount_percent, flat_discount, min_order, max_value), 0) < 'Infinity'
  and coalesce(array_ndims(product_ids), 1) = 1 and array_position(product_ids, null) is null
) not valid;

alter table products add constraint products_sound check (
  coalesce(array_ndims(images), 1) = 1 and array_position(images, null) is null
) not valid;

alter table orders add constraint orders_sound check (total_amount >= 0 and total_amount < 'Infinity') not valid;
