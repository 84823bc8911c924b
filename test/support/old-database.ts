import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { runner } from 'node-pg-migrate';
import { inject } from 'vitest';
import { migrationsFolder, migrationsTable } from '../../shared/db/schema.ts';
import { queryOnce } from './postgres-server.ts';

/** The files of all migrations, in order. */
export const migrationFiles: readonly string[] = readdirSync(migrationsFolder)
  .filter((file) => /^\d/.test(file))
  .toSorted();
export const migrations: readonly string[] = migrationFiles.map((file) => path.parse(file).name);

/** Creates a database of the test's server: an empty one, or a copy of another one, to which nobody is connected. */
export async function createDatabaseFrom(
  template = 'template0',
): Promise<{ readonly name: string; readonly url: string }> {
  const server = inject('postgresUrl');
  const name = `old_${randomBytes(6).toString('hex')}`;
  await queryOnce(`${server}/postgres`, `create database ${name} template ${template} ${inject('copyByFiles')}`);
  return { name, url: `${server}/${name}` };
}

/** Applies the next migrations of a folder, as many as `count`. */
export async function applyMigrations(url: string, count: number, folder = migrationsFolder): Promise<void> {
  const log = () => undefined;
  await runner({ databaseUrl: url, dir: folder, migrationsTable, schema: 'public', direction: 'up', count, log });
}

/** What to insert after a migration, so that each table has rows. `$size` is the number of slots. */
const rowsAfter: Readonly<Record<string, string>> = {
  '0001_schema': `
    insert into staff_users (name) select 'Staff ' || n from generate_series(1, 3) n;
    insert into users (name, email, mobile)
      select 'User ' || n, 'user' || n || '@example.com', (9000000000 + n)::text from generate_series(1, $size) n;
    insert into products (name, images) select 'Product ' || n, '{https://images.example/1.jpg}' from generate_series(1, 1000) n;
    insert into product_groups (name) select 'Group ' || n from generate_series(1, 20) n;
    insert into slots (delivery_time, freeze_time, is_active, group_ids, delivery_sequence)
      select time, time - interval '4 hours', n % 3 > 0, array[n % 20 + 1, 20 - n % 20], json_build_object(n, array[n])
      from (select n, '2025-01-01'::timestamptz + n * interval '1 hour' as time from generate_series(1, $size) n) as times;
    insert into product_slots select slot, (slot + n * 97) % 1000 + 1 from generate_series(1, $size) slot, generate_series(1, 10) n;
    insert into vendor_snippets (snippet_code, slot_id, product_ids, valid_till)
      select 'snippet-' || n, n, array[n % 1000 + 1], now() from generate_series(1, $size / 2) n;
    insert into coupons (coupon_code, is_user_based, discount_percent, min_order, product_ids, valid_till, max_limit_for_user, created_by)
      select 'COUPON-' || n, n % 2 = 0, 12.50, 100, array[n % 1000 + 1], now(), 3, 1 from generate_series(1, $size) n;
    insert into coupon_applicable_users (coupon_id, user_id) select n, n from generate_series(1, $size) n;
    insert into coupon_applicable_products (coupon_id, product_id) select n, n % 1000 + 1 from generate_series(1, $size) n;
    insert into reserved_coupons (secret_code, coupon_code, flat_discount, redeemed_by, created_by)
      select 'SECRET-' || n, 'RESERVED-' || n, 20, case n % 2 when 0 then n end, 1 from generate_series(1, $size) n;
    insert into reserved_coupon_applicable_products (reserved_coupon_id, product_id)
      select n, n % 1000 + 1 from generate_series(1, $size) n;
    insert into orders (user_id, total_amount) select n, n * 1.5 from generate_series(1, $size) n;
    insert into order_statuses (order_id, refund_coupon_id) select n, n from generate_series(1, $size) n;
    insert into store_refresh_requests default values`,
  '0003_store_versions': `insert into store_versions values (1, now(), pg_current_snapshot(), '{}')`,
  '0004_disabled_staff': 'update staff_users set disabled_at = now() where id = 3',
  '0006_validate_misses': `insert into validate_misses values ('key', 3, 1)`,
  '0010_accounted_writes': `
    insert into idempotency_keys (id, request, answer) select int4send(n), int4send(n), int4send(n) from generate_series(1, $size) n;
    insert into audit_entries (procedure, subject, staff_id, request_id, resource_type, resource_id, before, after)
      select 'slot.v1.SlotService/UpdateSlot', 'staff', 1, 'request-' || n, 'slot', n, '{"isActive":false}', '{"isActive":true}'
      from generate_series(1, $size) n`,
  '0013_stored_slots': `
    insert into stored_slots select id, 1, 0, 0, is_active, is_capacity_full, '{1,2}' from slots`,
  '0016_audit_retention': 'update audit_retention set days = 30',
  '0018_stored_bytes': `insert into stored_bytes values ('caller', now(), 100)`,
  '0024_redemptions': `
    insert into coupon_batches (name, count, created_by) values ('Batch', 1, 1);
    update coupons set batch_id = 1 where id = 1;
    insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at)
      select n, n, 'order-' || n, 100, 12.5, 'USED', now() from generate_series(1, $size) n`,
  '0035_bookings': `
    insert into slot_bookings (slot_id, order_key, units, state, created_at)
      select n, 'order-' || n, 1, 'BOOKED', now() from generate_series(1, $size) n`,
  '0037_overviews': `
    update redemptions set used_at = now();
    insert into folded_uses values (now(), 1, 12.5);
    update coupons set max_uses = 10 where id <= 10`,
  '0041_freed_ids': `
    insert into products (id, name) values (2000000000, 'Gone');
    delete from products where id = 2000000000`,
};

/** Applies the next migration, and inserts rows into each new table. */
async function grow(url: string, migration: string, size: number): Promise<void> {
  await applyMigrations(url, 1);
  await queryOnce(url, rowsAfter[migration]?.replaceAll('$size', `${size}`) ?? '');
}

/** Creates a database with rows in every table, as the last of some migrations has left it. Resolves with its URL. */
export async function createOldDatabase(size: number, until: readonly string[]): Promise<string> {
  const { url } = await createDatabaseFrom();
  for (const migration of until) await grow(url, migration, size);
  return url;
}

/** Creates such a database of all migrations. Resolves with a copy of it after each one, by the migration's name. */
export async function createOldStates(size: number): Promise<ReadonlyMap<string, string>> {
  const { name, url } = await createDatabaseFrom();
  const copies = new Map<string, string>();
  for (const migration of migrations) {
    await grow(url, migration, size);
    copies.set(migration, (await createDatabaseFrom(name)).name);
  }
  return copies;
}

/**
 * Describes the schema as sorted lines: columns, indexes, constraints, triggers, functions. Two schemas that behave alike
 * have the same lines, whatever the order of their columns.
 */
export async function describeSchema(url: string, schema = 'public'): Promise<string[]> {
  const isOurs = ofSchema(schema);
  const rows = await queryOnce<{ line: string }>(
    url,
    `select format('%s.%s %s', attrelid::regclass, attname, concat_ws(' ', format_type(atttypid, atttypmod),
       attnotnull, attstorage, attidentity, attgenerated, attcollation::regcollation, pg_get_expr(adbin, adrelid))) as line
     from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
     where attnum > 0 and not attisdropped and attrelid in (select oid from pg_class where ${isOurs} and relkind = 'r')
     union all select concat_ws(' ', relname, relkind, relpersistence, relreplident) from pg_class where ${isOurs}
     union all select pg_get_indexdef(indexrelid) || indisreplident from pg_index
       where indexrelid in (select oid from pg_class where ${isOurs})
     union all select concat_ws(' ', conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid)) from pg_constraint
       where connamespace = '"${schema}"'::regnamespace
     union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
       and tgrelid in (select oid from pg_class where ${isOurs})
     union all select concat(pg_get_functiondef(oid), proacl) from pg_proc where pronamespace = '"${schema}"'::regnamespace
     order by line`,
  );
  return rows.map(({ line }) => line);
}

const ofSchema = (schema: string) => `relnamespace = '"${schema}"'::regnamespace`;

/** The columns of each table. */
export async function columnsOf(url: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await queryOnce<{ name: string; columns: string[] }>(
    url,
    `select relname as name, array_agg(attname::text) as columns from pg_class join pg_attribute on attrelid = pg_class.oid
     where ${ofSchema('public')} and relkind = 'r' and relname not in ('${migrationsTable}', 'schema_parts') and attnum > 0 and not attisdropped group by name`,
  );
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}

/** What a table has: the number of its rows, and a hash of what they hold, in any order. */
export type Content = Readonly<Record<string, { readonly rows: string; readonly hash: string | null }>>;

/**
 * Resolves with what the tables of one database have, and with what another one, a later state of it, has in the same
 * tables and columns.
 */
export async function contentOfBoth(before: string, after: string): Promise<readonly [Content, Content]> {
  const [had, has] = await Promise.all([columnsOf(before), columnsOf(after)]);
  const tables = [...had].map(([table, columns]) => {
    const kept = columns.filter((column) => has.get(table)?.includes(column));
    return { table, json: `jsonb_build_object(${kept.map((column) => `'${column}', ${column}`).join()})` };
  });
  // A migration may ask for a refresh of the stores.
  const query = tables
    .map(({ table, json }) => {
      const rows = `${table} ${table === 'store_refresh_requests' ? 'where id = 1' : ''}`;
      return `select '${table}' as name, count(*) as rows, sum(hashtextextended(${json}::text, 0)) as hash from ${rows}`;
    })
    .join(' union all ');
  const contentOf = async (url: string): Promise<Content> => {
    const rows = await queryOnce<{ name: string; rows: string; hash: string | null }>(url, query);
    return Object.fromEntries(rows.map(({ name, ...content }) => [name, content]));
  };
  return Promise.all([contentOf(before), contentOf(after)]);
}
