import pg from 'pg';
import { makeCouponProducts, makeCoupons, makeCouponUsers, makeReservedCoupons } from './coupons.ts';
import { makeOrderStatuses, makeOrders } from './orders.ts';
import { makeUsers, staffUsers } from './people.ts';
import { productGroups, products } from './products.ts';
import { makeRefunds } from './refunds.ts';
import { makeProductSlots, makeSlots, makeSnippets } from './slots.ts';

type Rows = readonly Readonly<Record<string, unknown>>[];

/**
 * Inserts the demo catalogue, with dates around `now`, unless the database has staff, products, slots or users.
 *
 * @returns whether it was inserted.
 */
export async function seedDemo(databaseUrl: string, now: Date): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    // Another process may be seeding the same database.
    await client.query('lock table staff_users in share row exclusive mode');
    if (!(await isEmpty(client))) return false;
    for (const [table, rows] of Object.entries(makeCatalogue(now))) await insert(client, table, rows);
    await client.query('insert into store_refresh_requests default values');
    await client.query('commit');
    return true;
  } finally {
    await client.end();
  }
}

/** Returns the rows by table, in an order that satisfies every reference. */
function makeCatalogue(now: Date): Record<string, Rows> {
  const users = makeUsers(now);
  const orders = makeOrders(now);
  const coupons = makeCoupons(now);
  const couponUsers = makeCouponUsers();
  const refunds = makeRefunds(orders, users, { coupon: coupons.length + 1, link: couponUsers.length + 1 }, now);
  const slots = makeSlots(now);
  return {
    staff_users: staffUsers,
    users,
    products,
    product_groups: productGroups,
    slots,
    product_slots: makeProductSlots(slots.length),
    vendor_snippets: makeSnippets(now, slots.length),
    coupons: [...coupons, ...refunds.coupons],
    coupon_applicable_users: [...couponUsers, ...refunds.links],
    coupon_applicable_products: makeCouponProducts(),
    reserved_coupons: makeReservedCoupons(now),
    orders,
    order_statuses: makeOrderStatuses(refunds.couponOfOrder),
  };
}

async function isEmpty(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ empty: boolean }>(
    `select not exists (select from staff_users) and not exists (select from products)
      and not exists (select from slots) and not exists (select from users) as empty`,
  );
  return rows[0]?.empty ?? false;
}

/** Inserts the rows. The names in the statement come from this folder, never from input. */
async function insert(client: pg.Client, table: string, rows: Rows): Promise<void> {
  const names = Object.keys(rows[0] ?? {});
  const columns = names.join(', ');
  const given = `select ${columns} from jsonb_populate_recordset(null::${table}, $1)`;
  await client.query(`insert into ${table} (${columns}) ${given}`, [JSON.stringify(rows)]);
  if (!names.includes('id')) return;
  await client.query(`select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`);
}
