import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { createDatabase } from '../support/database.ts';
import { holding } from '../support/locks.ts';
import { applyMigrations, createDatabaseFrom } from '../support/old-database.ts';
import { startTestService } from '../support/service.ts';

const backupMs = 15_000;

/** A database at an earlier migration, with a slot. */
async function createOldDatabase(count: number) {
  const { url } = await createDatabaseFrom();
  await applyMigrations(url, count);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('insert into slots (delivery_time, freeze_time) values (now(), now())');
  return { url, client };
}

it('Migrations that wait for a backup do not hold up reads, and end after it', async () => {
  const { url, client } = await createOldDatabase(9);
  const tookMs: number[] = [];
  const migrating = await holding(url, 'lock table slots in access share mode', async () => {
    const migrating = migrate(url);
    for (const since = Date.now(); Date.now() - since < backupMs; await pause(5)) {
      const startedMs = performance.now();
      await client.query('select id from slots limit 1');
      tookMs.push(performance.now() - startedMs);
    }
    // The first of them changes slots.
    expect((await client.query("select from schema_migrations where name >= '0010'")).rowCount).toBe(0);
    // In an object, because a promise would be waited for.
    return { migrating };
  });
  expect((await migrating.migrating)[0]).toBe('0010_accounted_writes');
  tookMs.sort((left, right) => left - right);
  expect(tookMs[Math.floor(tookMs.length * 0.95)]).toBeLessThan(500);
  expect(tookMs.length).toBeGreaterThan(20);
});

it('Migrations bring codes into NFC, of two with one form the first, also in a row that breaks a constraint', async () => {
  const { url, client } = await createOldDatabase(13);
  await client.query(`insert into staff_users (id, name) values (1, 'A');
    insert into coupons (id, coupon_code, created_by, valid_till) values
      (1, U&'\\212B1', 1, null), (2, U&'A\\030A1', 1, null), (3, U&'E\\03011', 1, 'infinity'), (4, 'PLAIN', 1, null)`);
  await migrate(url);
  expect((await client.query('select coupon_code from coupons order by id')).rows).toEqual(
    ['\u00c51', 'A\u030a1', '\u00c91', 'PLAIN'].map((code) => ({ coupon_code: code })),
  );
});

it.each([
  `insert into slots (delivery_time, freeze_time) values ('infinity', now())`,
  `insert into slots (delivery_time, freeze_time) values (now(), '0044-03-15 BC')`,
  `insert into slots (delivery_time, freeze_time, group_ids) values (now(), now(), '{1,null}')`,
  `insert into products (name, images) values ('P', '{null}')`,
  `insert into coupons (coupon_code, starts_at, created_by) values ('A', '-infinity', 1)`,
  `insert into reserved_coupons (secret_code, coupon_code, starts_at, created_by) values ('A', 'A', '20000-01-01', 1)`,
  `insert into orders (total_amount) values ('Infinity')`,
  'insert into orders (total_amount) values (-50)',
])('The tables refuse what no answer can show: %s', async (insert) => {
  const database = await createDatabase();
  onTestFinished(() => database.close());
  await expect(database.sql(insert)).rejects.toThrow('violates check constraint');
});

it.each([
  ['0999_more', 'serves beside the newer release that brought it', undefined],
  ['0999_breaking_change', 'does not start', 'the database has the schema of a newer major release'],
])('On a schema with the unknown migration %s a service %s', async (migration, _what, error) => {
  const database = await createDatabase();
  onTestFinished(() => database.close());
  await database.sql('insert into schema_migrations (name, run_on) values ($1, now())', [migration]);
  const starting = startTestService('slot', undefined, database);
  if (error !== undefined) return expect(starting).rejects.toThrow(error);
  const service = await starting;
  onTestFinished(() => service.stop(1_000));
  expect((await fetch(`http://127.0.0.1:${service.webPort}/readyz`)).status).toBe(200);
});
