import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { inSession } from '../../shared/config/session.ts';
import { migrate } from '../../shared/db/migrate.ts';
import { migrationsFolder } from '../../shared/db/schema.ts';
import {
  applyMigrations,
  columnsOf,
  contentOfBoth,
  createDatabaseFrom,
  createOldStates,
  describeSchema,
  migrationFiles,
  migrations,
} from '../support/old-database.ts';
import { underStatements } from '../support/old-load.ts';
import { queryOnce } from '../support/postgres-server.ts';

const size = 500;
const urlOf = (name: string) => `${inject('postgresUrl')}/${name}`;

describe('A database of each earlier schema, with rows in every table', () => {
  let states: ReadonlyMap<string, string>;
  let newest: string[];

  const stateAt = (migration: string) => states.get(migration) ?? '';

  beforeAll(async () => {
    states = await createOldStates(size);
    const { url } = await createDatabaseFrom();
    await migrate(url);
    newest = await describeSchema(url);
  });

  it('Every table of the newest schema has rows', async () => {
    const url = urlOf(stateAt(migrations.at(-1) ?? ''));
    const [content] = await contentOfBoth(url, url);
    expect(Object.entries(content).filter(([, { rows }]) => rows === '0')).toEqual([]);
    expect(Object.keys(content).length).toBeGreaterThan(20);
  });

  it.each(migrations.slice(0, -1))(
    'The schema after %s migrates to the newest one under reads and writes, and keeps every row',
    async (migration) => {
      const before = urlOf(stateAt(migration));
      const { url } = await createDatabaseFrom(stateAt(migration));
      const tookMs = await underStatements(url, () => migrate(url));
      expect(tookMs.length).toBeGreaterThan(10);
      expect(tookMs[Math.floor(tookMs.length * 0.95)]).toBeLessThan(500);
      expect(await describeSchema(url)).toEqual(newest);
      const [had, has] = await contentOfBoth(before, url);
      expect(has).toEqual(had);
    },
  );

  it('No column of an earlier schema is gone but those that nothing reads any more', async () => {
    const gone = new Set<string>();
    const kept = await columnsOf(urlOf(stateAt(migrations.at(-1) ?? '')));
    for (const migration of migrations) {
      for (const [table, columns] of await columnsOf(urlOf(stateAt(migration)))) {
        for (const column of columns) if (!kept.get(table)?.includes(column)) gone.add(`${table}.${column}`);
      }
    }
    expect([...gone].toSorted()).toEqual(['audit_entries.is_slot', 'store_versions.content']);
  });

  it('A schema of any name gets what public has', async () => {
    const { url } = await createDatabaseFrom();
    await migrate(url, 'delivery');
    const described = await describeSchema(inSession(url, 'delivery'), 'delivery');
    expect(described.map((line) => line.replaceAll(/\bdelivery\b/g, 'public')).toSorted()).toEqual(newest.toSorted());
  });

  const inTransactions = migrationFiles
    .map((file, count) => [file, count] as const)
    .filter(([file]) => file.endsWith('.sql'));
  it.each(inTransactions.slice(1))(
    '%s, which fails at its end, leaves the schema and every row as they were',
    async (file, count) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'failing-migration-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      for (const each of migrationFiles.slice(0, count)) await cp(`${migrationsFolder}/${each}`, `${folder}/${each}`);
      const sql = await readFile(`${migrationsFolder}/${file}`, 'utf8');
      await writeFile(`${folder}/${file}`, `${sql}\nselect 1 / 0;`);
      const before = urlOf(stateAt(migrations[count - 1] ?? ''));
      const { url } = await createDatabaseFrom(stateAt(migrations[count - 1] ?? ''));
      await expect(applyMigrations(url, 1, folder)).rejects.toThrow('division by zero');
      expect(await describeSchema(url)).toEqual(await describeSchema(before));
      const [had, has] = await contentOfBoth(before, url);
      expect(has).toEqual(had);
    },
  );

  it('An index that could not be built is built by the next run, once it can be, and those before it are kept', async () => {
    const before = migrations.indexOf('0039_indexes_beside_writes') - 1;
    const { url } = await createDatabaseFrom(stateAt(migrations[before] ?? ''));
    await queryOnce(url, `update orders set external_id = 'twice' where id <= 2`);
    await expect(migrate(url)).rejects.toThrow('could not create unique index "orders_external_id_unique"');
    const builtBefore = `select 'audit_entries_of_users'::regclass::oid`;
    const built = await queryOnce(url, builtBefore);
    await queryOnce(url, `update orders set external_id = null where id <= 2`);
    expect(await migrate(url)).toEqual(migrations.slice(before + 1));
    expect(await queryOnce(url, builtBefore)).toEqual(built);
    expect(await describeSchema(url)).toEqual(newest);
  });

  it('A run that fails leaves what the migrations before have done, and the next run goes on from there', async () => {
    const { url } = await createDatabaseFrom();
    // In the place of one that a later migration creates.
    await queryOnce(url, 'create table redemptions ()');
    await expect(migrate(url)).rejects.toThrow('relation "redemptions" already exists');
    const applied = await queryOnce<{ name: string }>(url, 'select name from schema_migrations order by id');
    const [last = ''] = applied.map(({ name }) => name).slice(-1);
    expect(applied.map(({ name }) => name)).toEqual(migrations.slice(0, migrations.indexOf(last) + 1));
    expect(applied.length).toBeGreaterThan(10);
    await queryOnce(url, 'drop table redemptions');
    expect(await migrate(url)).toEqual(migrations.slice(applied.length));
    expect(await describeSchema(url)).toEqual(newest);
  });
});
