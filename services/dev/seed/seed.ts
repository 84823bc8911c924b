import { readFile } from 'node:fs/promises';
import pg from 'pg';

/** The demo, by subject: each builds on those before it. */
const subjects = ['catalogue', 'slots', 'orders', 'coupons', 'redemptions', 'trail', 'sequences'];

/**
 * Inserts the demo of the files beside this one, unless the database has staff, products, slots or users.
 *
 * @returns whether it was inserted.
 */
export async function seedDemo(databaseUrl: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    // Another process may be seeding the same database.
    await client.query('lock table staff_users in share row exclusive mode');
    const { rowCount } = await client.query(
      `select from staff_users union all select from products union all select from slots union all select from users
       limit 1`,
    );
    if (rowCount !== 0) return false;
    for (const subject of subjects) {
      await client.query(await readFile(new URL(`${subject}.sql`, import.meta.url), 'utf8'));
    }
    await client.query('commit');
    return true;
  } finally {
    await client.end();
  }
}
