import { withClient } from './client.ts';
import { searchesOf, withoutIndexes } from './data-indexes.ts';

/** How many rows a load makes at scale 1. */
const full = { coupons: 1_000_000, users: 1_000_000, reserved: 200_000 };

// Q is left out, and used in 20 rows only: searches for it are rare ones.
const letters = 'ABCDEFGHIJKLMNOPRSTUVWXYZ0123456789';
const randomLetters = (count: number) =>
  Array(count).fill(`substr('${letters}', 1 + floor(random() * ${letters.length})::integer, 1)`).join(' || ');

const names = `array['Asha','Ravi','Meera','Vikram','Leela','Arun','Divya','Kiran','Nisha','Suresh','Priya','Manoj',
  'Anita','Deepak','Farah','Gopal','Hema','Ishaan','Jaya','Kavya']`;
export const surnames = `array['Menon','Iyer','Sharma','Patel','Reddy','Nair','Das','Khan','Gupta','Rao','Bose','Singh',
  'Verma','Joshi','Kapoor','Pillai','Thomas','Mehta','Shetty','Ghosh']`;
export const pick = (array: string) => `(${array})[1 + floor(random() * 20)::integer]`;

const tables = ['users', 'coupons', 'reserved_coupons', 'coupon_applicable_users', 'coupon_applicable_products'];

/** 20 rows of each table, spread over its age. */
const isRare = (count: number) => `n % ${Math.max(1, Math.floor(count / 20))} = 0`;

/**
 * Fills an empty, migrated database with coupons, users and reserved coupons; at scale 1 with a
 * million, a million and 200,000; of reserved coupons never more than coupons.
 *
 * @returns the number of rows by table. Throws when there are coupons already.
 */
export async function loadBenchData(databaseUrl: string, scale: number): Promise<Record<string, number>> {
  const coupons = Math.round(full.coupons * scale);
  const users = Math.round(full.users * scale);
  const reserved = Math.min(full.reserved, coupons);
  return withClient(databaseUrl, async (client) => {
    const { rowCount } = await client.query('select from coupons limit 1');
    if (rowCount !== 0) throw new Error('the database at DATABASE_URL holds coupons already: give an empty one');
    await client.query('begin');
    // Unique ones stay: they refuse a code that chance has made twice.
    await withoutIndexes(client, `${searchesOf(...tables)} and not indisunique`, async () => {
      await client.query('select setseed(0.42)');
      await client.query(`insert into staff_users (name) select 'Staff ' || n from generate_series(1, 10) n`);
      await client.query(`insert into products (name, images)
      select 'Product ' || n, array['https://images.example/' || n || '.jpg'] from generate_series(1, 1000) n`);
      // The factor has no divisor in common with 10^9, so the mobiles differ.
      await client.query(`insert into users (name, email, mobile)
      select case when ${isRare(users)} then 'Qxz ' || n
                  when n % 50 = 1 then null when n % 100 = 2 then ''
                  else ${pick(names)} || ' ' || ${randomLetters(2)} || ' ' || ${pick(surnames)} end,
             'user' || n || '@example.com', '9' || lpad((n * 7919::bigint % 1000000000)::text, 9, '0')
      from generate_series(1, ${users}) n`);
      await client.query(`insert into coupons (coupon_code, discount_percent, min_order, max_value, is_user_based,
        is_apply_for_all, valid_till, created_by, created_at)
      select case when ${isRare(coupons)} then 'VIPQXZ' || n
                  when n % 10 = 3 then 'SAVE' || n || ${randomLetters(4)}
                  else 'DC' || lpad(floor(random() * 1000000)::integer::text, 6, '0') || ${randomLetters(6)} end,
             10, 100, 500, n % 4 = 0, n % 4 <> 0, now() + interval '90 days',
             (select min(id) from staff_users) + n % 10, now() - (${coupons} - n) * interval '10 seconds'
      from generate_series(1, ${coupons}) n
      on conflict do nothing`);
      await client.query(`insert into coupon_applicable_users (coupon_id, user_id)
      select id, (select min(id) from users) + id % ${users} from coupons where is_user_based`);
      await client.query(`insert into coupon_applicable_products (coupon_id, product_id)
      select id, (select min(id) from products) + id % 1000 from coupons where id % 10 = 0`);
      await client.query(`insert into reserved_coupons (secret_code, coupon_code, flat_discount, redeemed_by, created_by,
        created_at)
      select case when ${isRare(reserved)} then 'VIPQXZ' || n
                  when n % 10 = 3 then 'SAVE' || n || ${randomLetters(4)}
                  else 'SECRET' || lpad(floor(random() * 1000000)::integer::text, 6, '0') || ${randomLetters(6)} end,
             'RESERVED' || lpad((n % 1000000)::text, 6, '0'), 50,
             case when n % 3 = 0 then (select min(id) from users) + n % ${users} end,
             (select min(id) from staff_users) + n % 10, now() - (${reserved} - n) * interval '1 minute'
      from generate_series(1, ${reserved}) n
      on conflict do nothing`);
    });
    await client.query('commit');
    await client.query('vacuum analyze');
    return { coupons, users, reserved_coupons: reserved };
  });
}
