/** Indexes of tables that services write all the time, and grow for ever: what each is on, by its name. */
const indexes = {
  // An id of a product is looked up among these links: since migration 0027 for each product that is inserted.
  reserved_coupon_applicable_products_by_product: 'reserved_coupon_applicable_products (product_id)',

  // Logical replication has to identify entries. The whole row can't, because JSON has no equality.
  audit_entries_pkey: 'audit_entries (id)',
  // Without `hashtext`, an internal function whose values another version of PostgreSQL may change, while pg_upgrade keeps the
  // index. A subject may be too long for an index.
  audit_entries_by_subject_prefix: `audit_entries (resource_type, left(subject, 64) collate "C", at desc, id desc)`,
  audit_entries_by_procedure_name: `audit_entries (resource_type, procedure collate "C", at desc, id desc)`,
  // Both services write users. Each lists the changes of its own procedures.
  audit_entries_of_users: `audit_entries (starts_with(procedure, 'catalog.'), at desc, id desc) where resource_type = 'user'`,

  users_external_id_unique: 'users (external_id)',
  products_external_id_unique: 'products (external_id)',
  product_groups_external_id_unique: 'product_groups (external_id)',
  orders_external_id_unique: 'orders (external_id)',
  staff_users_external_id_unique: 'staff_users (external_id)',
  // As migrations 0002 and 0017 have them, but with users who have no mobile, and with what leaves retired products out.
  users_search_anew: `users using gin (search_grams(coalesce(name, '') || E'\\n' || coalesce(mobile, ''), 1))`,
  products_by_name_anew: 'products (name collate "und-x-icu", id) include (name, is_retired)',

  // The time is an expression, so that a query of it has this index alone to choose: no other one is fast whatever the data.
  redemptions_by_end_of_hold_in_coupon: `redemptions (coupon_id, (held_until at time zone 'UTC')) where state = 'HELD'`,
  slots_by_closing: 'slots (least(delivery_time, freeze_time), id) where is_active',
  coupons_by_end: 'coupons (valid_till, id) where batch_id is null and not is_invalidated',
  coupons_without_batch: 'coupons (created_at desc, id desc) include (coupon_code) where batch_id is null',
  coupons_search_without_batch: 'coupons using gin (search_grams(coupon_code, 1)) where batch_id is null',
};
const unique = /_(?:pkey|unique)$/;

/**
 * Builds indexes while services write, which takes minutes where tables have millions of rows. That is not possible in a
 * transaction: what a run has left half built is built again by the next one, which goes on from there.
 *
 * @param {import('node-pg-migrate').MigrationBuilder} pgm
 */
export async function up(pgm) {
  pgm.noTransaction();
  const built = await pgm.db.select(
    `select relname as name from pg_index join pg_class on oid = indexrelid
     where relnamespace = current_schema()::regnamespace and indisvalid`,
  );
  const names = new Set(built.map(({ name }) => name));
  // A build waits for the transactions that are open, and services don't wait for it. It ends with this process.
  pgm.sql(`set lock_timeout = '10min'`);
  pgm.sql(`set client_connection_check_interval = '10s'`);
  for (const [name, on] of Object.entries(indexes)) {
    if (names.has(name)) continue;
    pgm.sql(`drop index concurrently if exists ${name}`);
    pgm.sql(`create ${unique.test(name) ? 'unique index' : 'index'} concurrently ${name} on ${on}`);
  }
}

export const down = false;
