import pg from 'pg';

/** Ids and codes of the fixture: requests with them pass the first check of a procedure. */
export const existing = {
  /** Every table but `staff_users` has rows with the ids 1 to this one. */
  ids: 20,
  codes: ['CODE1', 'CODE2', 'CODE3', 'SECRET1', 'snippet-1', 'snippet-2'],
} as const;

const tables = [
  ...['slots', 'vendor_snippets', 'coupons', 'reserved_coupons', 'users', 'products', 'product_groups', 'orders'],
  ...['coupon_batches', 'redemptions', 'slot_bookings'],
] as const;

const fixture = `
  insert into staff_users (id, name) values (1, 'Asha Menon'), (2, 'Ravi Iyer');
  insert into products (id, name, images)
    select n, 'Product ' || n, array['https://images.example/' || n || '.jpg'] from generate_series(1, 20) n;
  insert into product_groups (id, name) select n, 'Group ' || n from generate_series(1, 20) n;
  insert into users (id, name, email, mobile, external_id)
    select n, case when n <> 3 then 'User ' || n end, 'user' || n || '@example.com', (9000000000 + n)::text, 'user-' || n
    from generate_series(1, 20) n;
  insert into slots (id, capacity, delivery_time, freeze_time, delivery_sequence)
    select n, 1000, now() + n * interval '1 hour' + interval '2 days', now() + n * interval '1 hour' + interval '1 day',
      case when n % 2 = 0 then jsonb_build_object(n, jsonb_build_array(3, 1, 2)) else '{}' end
    from generate_series(1, 20) n;
  insert into product_slots select s, p from generate_series(1, 20) s, generate_series(1, 5) p;
  insert into vendor_snippets (id, snippet_code, slot_id, product_ids)
    select n, 'snippet-' || n, n, array[1, 2] from generate_series(1, 20) n;
  insert into coupon_batches (id, name, count, created_by) select n, 'Batch ' || n, 1, 1 from generate_series(1, 20) n;
  insert into coupons (id, coupon_code, discount_percent, min_order, max_value, is_apply_for_all, created_by, batch_id)
    select n, 'CODE' || n, 10, 1, 500, true, 1, case when n > 3 then n end from generate_series(1, 20) n;
  insert into reserved_coupons (id, secret_code, coupon_code, flat_discount, created_by)
    select n, 'SECRET' || n, 'RESERVED' || n, 50, 1 from generate_series(1, 20) n;
  insert into orders (id, user_id, total_amount)
    select n, case when n % 7 <> 0 then n end, n * 100 from generate_series(1, 20) n;
  insert into order_statuses (order_id) select n from generate_series(1, 20) n;
  insert into redemptions (id, coupon_id, user_id, order_key, order_amount, discount_amount, state, held_until, created_at)
    select n, n, n, 'order-' || n, 100, 10, 'HELD', now() + interval '1 day', now() from generate_series(1, 20) n;
  insert into slot_bookings (id, slot_id, user_id, order_key, units, state, held_until, created_at)
    select n, n, n, 'order-' || n, 1, 'HELD', now() + interval '1 day', now() from generate_series(1, 20) n;
  select setval(pg_get_serial_sequence(name, 'id'), 1000)
    from unnest(array['staff_users', 'users', 'products', 'product_groups', 'slots', 'vendor_snippets', 'coupons',
      'reserved_coupons', 'orders', 'coupon_batches', 'redemptions', 'slot_bookings']) name;
`;

const restore = `
  delete from vendor_snippets where id > 20;
  delete from product_slots where slot_id not between 1 and 20 or product_id not between 1 and 20;
  delete from slots where id > 20;
  update slots set is_active = true, is_capacity_full = false, capacity = 1000, freeze_time = now() + interval '1 day',
    delivery_time = now() + interval '2 days'
    where id <= 20;
  delete from slot_bookings where id > 20;
  update slot_bookings set state = 'HELD', held_until = now() + interval '1 day', slot_id = id where id <= 20;
  delete from redemptions where id > 20;
  update redemptions set state = 'HELD', held_until = now() + interval '1 day' where id <= 20;
  delete from coupons where id > 20;
  update coupons set is_invalidated = false where id <= 20;
  delete from coupon_batches where id > 20;
  delete from reserved_coupons where id > 20;
  delete from users where id > 20;
`;

/** The small database of a run. Requests fill it, and `restore` undoes their changes. */
export class FuzzData {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  /** Loads the fixture into an empty, migrated database. */
  static async load(databaseUrl: string): Promise<FuzzData> {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query(fixture);
    return new FuzzData(client);
  }

  /** Deletes what requests wrote, and restores what they deleted. No request may be in flight. */
  async restore(): Promise<void> {
    await this.#client.query(restore);
  }

  /** The number of rows of each table. */
  async count(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const table of [...tables, 'product_slots', 'store_refresh_requests']) {
      const { rows } = await this.#client.query<{ count: number }>(`select count(*)::integer as count from ${table}`);
      counts[table] = rows[0]?.count ?? 0;
    }
    return counts;
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}
