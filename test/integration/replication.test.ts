import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startPostgres } from '../../services/dev/postgres/postgres.ts';
import { migrate } from '../../shared/db/migrate.ts';
import { eventually } from '../support/eventually.ts';
import { queryOnce } from '../support/postgres-server.ts';

describe('A publication of all tables', () => {
  let shop: string;
  let copy: string;

  beforeAll(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'replication-test-'));
    // The server runs as another user when this process is root.
    await chmod(folder, 0o755);
    const postgres = await startPostgres(folder, undefined, new AbortController().signal, [
      'wal_level=logical',
      'fsync=off',
    ]);
    const server = postgres.url.slice(0, postgres.url.lastIndexOf('/'));
    [shop, copy] = [`${server}/shop`, `${server}/copy`];
    for (const [name, url] of Object.entries({ shop, copy })) {
      await queryOnce(postgres.url, `create database ${name}`);
      await migrate(url);
    }
    await queryOnce(shop, 'create publication everything for all tables');
    await queryOnce(shop, `select pg_create_logical_replication_slot('copy', 'pgoutput')`);
    await queryOnce(
      copy,
      `create subscription everything connection '${shop}' publication everything
       with (create_slot = false, slot_name = 'copy', copy_data = false)`,
    );
    return async () => {
      await queryOnce(copy, 'alter subscription everything disable');
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    };
  }, 120_000);

  const inCopy = (sql: string) => queryOnce<{ count: number }>(copy, `select count(*)::integer as count from ${sql}`);

  it('A publication of all tables identifies the rows of each of them', async () => {
    const unidentified = await queryOnce(
      shop,
      `select relname from pg_publication_tables join pg_class on oid = format('%I.%I', schemaname, tablename)::regclass
       where relreplident = 'n' or relreplident = 'd' and not exists (select from pg_index where indrelid = oid and indisprimary)`,
    );
    expect(unidentified).toEqual([]);
  });

  it('A publication of all tables stops no migration: the retention of entries is set, and arrives', async () => {
    await migrate(shop, undefined, 30);
    await migrate(shop, undefined, 30);
    await eventually(async () => expect(await inCopy('audit_retention where days = 30')).toEqual([{ count: 1 }]));
  });

  it('A publication of all tables stops no sweep: old entries go, there and here', async () => {
    await queryOnce(
      shop,
      `insert into audit_entries (at, procedure, subject, request_id, resource_type, resource_id, after)
       select now() - n * interval '20 days', 'p', 's', n::text, 'slot', n, '{}' from generate_series(1, 2) n`,
    );
    await eventually(async () => expect(await inCopy('audit_entries')).toEqual([{ count: 2 }]));
    expect(await queryOnce(shop, 'select sweep_audit_entries(now(), 100) as swept')).toEqual([{ swept: 1 }]);
    await eventually(async () => expect(await inCopy('audit_entries')).toEqual([{ count: 1 }]));
  });

  it('A publication of all tables carries what is changed and deleted of links', async () => {
    await queryOnce(
      shop,
      `insert into staff_users (id, name) values (1, 'Asha Menon');
       insert into coupons (id, coupon_code, created_by) values (1, 'LINKED', 1);
       insert into coupon_applicable_users (coupon_id, user_id) select 1, n from generate_series(1, 3) n`,
    );
    await queryOnce(shop, 'delete from coupon_applicable_users where user_id = 2');
    await queryOnce(shop, 'update coupon_applicable_users set user_id = 7 where user_id = 3');
    await eventually(async () =>
      expect(await inCopy('coupon_applicable_users where user_id in (1, 7)')).toEqual([{ count: 2 }]),
    );
    expect(await inCopy('coupon_applicable_users')).toEqual([{ count: 2 }]);
  });

  it('No index of the schema depends on an internal function of PostgreSQL', async () => {
    const { length } = await queryOnce(
      shop,
      `select from pg_indexes where schemaname = current_schema() and indexdef ~ 'hashtext|hashint'`,
    );
    expect(length).toBe(0);
  });
});
