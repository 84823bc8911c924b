import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { createDatabase } from '../support/database.ts';
import { holding } from '../support/locks.ts';

/** The constraints of migration 0015, so that a test can have rows from before. */
const dropChecks = `alter table slots drop constraint slots_sound; alter table coupons drop constraint coupons_sound`;
const backupMs = 5_000;

it('A migration that waits for a backup does not hold up reads, and ends after it', async () => {
  const database = await createDatabase();
  onTestFinished(() => database.close());
  await database.sql(`${dropChecks}; delete from schema_migrations where name >= '0015'; drop table audit_retention, stored_bytes;
    alter table vendor_snippets drop constraint vendor_snippets_sound; alter table products drop constraint products_sound;
    alter table reserved_coupons drop constraint reserved_coupons_sound; alter table orders drop constraint orders_sound`);
  const tookMs: number[] = [];
  const { applied } = await holding(database.url, 'lock table slots in access share mode', async () => {
    const migrating = migrate(database.url);
    for (const since = Date.now(); Date.now() - since < backupMs; await pause(5)) {
      const startedMs = performance.now();
      await database.sql('select id from slots limit 1');
      tookMs.push(performance.now() - startedMs);
    }
    expect(await database.sql("select from schema_migrations where name >= '0015'")).toEqual([]);
    return { applied: migrating };
  });
  expect(await applied).toContain('0015_sound_rows');
  tookMs.sort((left, right) => left - right);
  expect(tookMs[Math.floor(tookMs.length * 0.95)]).toBeLessThan(500);
  expect(tookMs.length).toBeGreaterThan(20);
});

it('A migration names the rows that break a constraint and goes on, and validates it once they are mended', async () => {
  const database = await createDatabase();
  onTestFinished(() => database.close());
  await database.sql(`alter table slots drop constraint slots_sound;
    insert into slots (id, delivery_time, freeze_time) values (7, 'infinity', now()), (8, now(), now());
    alter table slots add constraint slots_sound check (delivery_time < '10000-01-01Z') not valid`);
  const lines: string[] = [];
  await migrate(database.url, (line) => lines.push(line));
  expect(lines).toEqual([expect.stringMatching(/rows of slots break slots_sound.*ids are 7$/)]);
  const validated = `select convalidated from pg_constraint where conname = 'slots_sound'`;
  expect(await database.sql(validated)).toEqual([{ convalidated: false }]);
  await database.sql('update slots set delivery_time = now() where id = 7');
  await migrate(database.url, (line) => lines.push(line));
  expect(lines).toHaveLength(1);
  expect(await database.sql(validated)).toEqual([{ convalidated: true }]);
});

it.each([
  `insert into slots (delivery_time, freeze_time) values ('infinity', now())`,
  `insert into slots (delivery_time, freeze_time) values (now(), '0044-03-15 BC')`,
  `insert into slots (delivery_time, freeze_time, group_ids) values (now(), now(), '{1,null}')`,
  `insert into products (name, images) values ('P', '{null}')`,
  `insert into orders (total_amount) values ('Infinity')`,
  'insert into orders (total_amount) values (-50)',
])('The tables refuse what no answer can show: %s', async (insert) => {
  const database = await createDatabase();
  onTestFinished(() => database.close());
  await expect(database.sql(insert)).rejects.toThrow('violates check constraint');
});
