-- Up Migration

-- What this schema must have. A restore may leave some of it out, and the services would run on without. `start:migrate` and the
-- services compare: an older service, too, with what a newer schema must have. A later migration that adds or drops a part
-- does the same here. A trigger is named with its table.
create table schema_parts (
  kind text collate "C" check (kind in ('constraint', 'index', 'trigger', 'grant')),
  name text collate "C",
  primary key (kind, name)
);

insert into schema_parts select 'constraint', unnest(array[
  'audit_entries_pkey', 'audit_retention_days_check', 'coupon_applicable_products_coupon_id_fkey',
  'coupon_applicable_products_unique', 'coupon_applicable_users_coupon_id_fkey', 'coupon_applicable_users_unique',
  'coupon_batches_created_by_fkey', 'coupon_batches_pkey', 'coupon_link_counts_coupon_id_fkey', 'coupon_link_counts_pkey',
  'coupon_usage_pkey', 'coupons_coupon_code_unique', 'coupons_created_by_fkey', 'coupons_pkey', 'coupons_sound',
  'idempotency_keys_pkey', 'order_statuses_order_id_fkey', 'order_statuses_pkey', 'order_statuses_refund_coupon_id_fkey',
  'orders_pkey', 'orders_sound', 'orders_total_amount_check', 'orders_user_id_fkey', 'product_groups_pkey', 'product_slots_pkey',
  'products_pkey', 'products_sound', 'redemptions_pkey', 'reserved_coupon_applicable_products_reserved_coupon_id_fkey',
  'reserved_coupon_applicable_products_unique', 'reserved_coupons_claimed_coupon_id_fkey', 'reserved_coupons_created_by_fkey',
  'reserved_coupons_pkey', 'reserved_coupons_secret_code_unique', 'reserved_coupons_sound', 'schema_migrations_pkey',
  'schema_parts_kind_check', 'schema_parts_pkey', 'slots_pkey', 'slots_sound', 'staff_users_pkey', 'store_refresh_requests_pkey',
  'store_versions_pkey', 'stored_slots_pkey', 'users_mobile_unique', 'users_pkey', 'validate_misses_pkey',
  'vendor_snippets_slot_id_fkey', 'vendor_snippets_snippet_code_unique', 'vendor_snippets_sound'
]);
insert into schema_parts select 'index', unnest(array[
  'audit_entries_by_procedure', 'audit_entries_by_resource', 'audit_entries_by_staff', 'audit_entries_by_subject',
  'audit_entries_latest_first', 'coupon_applicable_products_by_product', 'coupon_applicable_users_by_user', 'coupons_by_batch',
  'coupons_latest_first', 'coupons_search', 'idempotency_keys_by_age', 'order_statuses_by_order', 'orders_by_user',
  'product_slots_by_product', 'products_by_name', 'products_search', 'redemptions_by_coupon', 'redemptions_by_end_of_hold',
  'redemptions_by_order', 'redemptions_by_use', 'redemptions_by_user', 'redemptions_latest_first',
  'reserved_coupon_applicable_products_by_product', 'reserved_coupons_by_redeemer', 'reserved_coupons_latest_first',
  'reserved_coupons_search', 'slots_by_capacity', 'slots_by_delivery_time', 'slots_by_group', 'slots_with_many_groups',
  'stored_slots_by_version', 'users_by_name', 'users_search', 'validate_misses_by_expire', 'vendor_snippets_by_folded_code',
  'vendor_snippets_by_slot'
]);

insert into schema_parts select 'trigger', unnest(array[
  'audit_entries.audit_entries_append_only', 'coupon_applicable_products.changed_links_counted',
  'coupon_applicable_products.deleted_links_counted', 'coupon_applicable_products.new_links_counted',
  'coupon_applicable_products.truncated_links_counted', 'coupon_applicable_users.changed_links_counted',
  'coupon_applicable_users.deleted_links_counted', 'coupon_applicable_users.new_links_counted',
  'coupon_applicable_users.truncated_links_counted', 'coupons.coupons_invalidated', 'redemptions.changed_redemptions_counted',
  'redemptions.new_redemptions_counted', 'slots.inserted_slots_measured', 'slots.slots_measured'
]);

-- The rights of the role that the services connect as, of which the owner of the schema has more.
insert into schema_parts select 'grant', 'SELECT on ' || unnest(array[
  'audit_entries', 'audit_retention', 'coupon_applicable_products', 'coupon_applicable_users', 'coupon_batches',
  'coupon_link_counts', 'coupon_usage', 'coupons', 'idempotency_keys', 'order_statuses', 'orders', 'product_groups',
  'product_slots', 'products', 'redemptions', 'reserved_coupon_applicable_products', 'reserved_coupons', 'schema_migrations',
  'schema_parts', 'slots', 'staff_users', 'store_refresh_requests', 'store_versions', 'stored_slots', 'users', 'validate_misses',
  'vendor_snippets'
]);
insert into schema_parts values ('grant', 'INSERT on audit_entries'), ('grant', 'EXECUTE on sweep_audit_entries');
insert into schema_parts
select 'grant', privilege || ' on ' || name
from unnest(array['INSERT', 'UPDATE', 'DELETE']) as privilege, unnest(array[
  'coupon_applicable_products', 'coupon_applicable_users', 'coupon_batches', 'coupon_link_counts', 'coupon_usage', 'coupons',
  'idempotency_keys', 'order_statuses', 'orders', 'product_groups', 'product_slots', 'products', 'redemptions',
  'reserved_coupon_applicable_products', 'reserved_coupons', 'slots', 'store_refresh_requests', 'store_versions', 'stored_slots',
  'users', 'validate_misses', 'vendor_snippets'
]) as name;
