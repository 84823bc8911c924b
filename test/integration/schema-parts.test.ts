import { describe, expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService } from '../support/service.ts';

const inSchema = `relnamespace = current_schema()::regnamespace`;

async function openDatabase(): Promise<TestDatabase> {
  const database = await createDatabase();
  onTestFinished(() => database.close());
  return database;
}

/** Starts a service on the database. Resolves with why it refuses. */
async function refusalOf(database: TestDatabase): Promise<string> {
  const service = await startTestService('coupon', undefined, database).catch((error: unknown) => String(error));
  if (typeof service === 'string') return service;
  await service.stop();
  return 'it starts';
}

describe('A schema', () => {
  it('A schema has the constraints, indexes and triggers that its migrations name, and no others', async () => {
    const database = await openDatabase();
    const parts = await database.sql(`select kind, name from schema_parts where kind <> 'grant' order by 1, 2`);
    // A later release drops the table of 1.0.0 that nothing uses.
    const found = await database.sql(
      `select 'constraint' collate "C" as kind, conname::text collate "C" as name from pg_constraint
         where connamespace = current_schema()::regnamespace and contype <> 'n' and conname <> 'stored_bytes_pkey'
       union all select 'index', relname from pg_index join pg_class on oid = indexrelid
         where ${inSchema} and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
       union all select 'trigger', relname || '.' || tgname from pg_trigger join pg_class on pg_class.oid = tgrelid
         where ${inSchema} and not tgisinternal
       order by 1, 2`,
    );
    expect(found).toEqual(parts);
  });

  it('A schema grants what its migrations name to the role of the services, which has no more on its tables', async () => {
    const database = await openDatabase();
    const granted = await database.sql(
      `select privilege_type || ' on ' || relname as name
       from pg_class, aclexplode(relacl) where ${inSchema} and relkind = 'r' and grantee = 'service'::regrole
         and relname <> 'stored_bytes'
       union select privilege_type || ' on ' || relname
       from pg_class join pg_attribute on attrelid = pg_class.oid, aclexplode(attacl) where grantee = 'service'::regrole
       union select privilege_type || ' on ' || proname
       from pg_proc, aclexplode(proacl) where pronamespace = current_schema()::regnamespace and grantee = 'service'::regrole
       order by 1`,
    );
    expect(granted).toEqual(await database.sql(`select name from schema_parts where kind = 'grant' order by name`));
  });

  it.each([
    ['constraint orders_user_id_fkey', 'alter table orders drop constraint orders_user_id_fkey', ''],
    ['constraint users_mobile_unique', 'alter table users drop constraint users_mobile_unique', ''],
    ['index coupons_search', 'drop index coupons_search', ''],
    ['index users_search', `update pg_index set indisvalid = false where indexrelid = 'users_search'::regclass`, ''],
    ['trigger coupons.coupons_invalidated', 'drop trigger coupons_invalidated on coupons', ''],
    ['trigger audit_entries.audit_entries_append_only', 'alter table audit_entries disable trigger user', ''],
    ['grant INSERT on users', 'revoke insert on users from service', 'of the role'],
    [
      'grant EXECUTE on sweep_audit_entries',
      'revoke execute on function sweep_audit_entries from service',
      'of the role',
    ],
  ])('A schema that lacks %s is refused and named, at a migration and at a start', async (part, sql, ofRole) => {
    const database = await openDatabase();
    await database.sql(sql);
    expect(await refusalOf(database)).toContain(`the schema lacks ${part}: `);
    // The owner, who migrates, has every right.
    const migrated = migrate(database.url);
    if (ofRole === '') await expect(migrated).rejects.toThrow(`the schema lacks ${part}: `);
    else await migrated;
  });

  it('A schema that lacks several parts is refused with all of them, and taken once they are back', async () => {
    const database = await openDatabase();
    await database.sql('drop index coupons_search; alter table coupons drop constraint coupons_created_by_fkey');
    expect(await refusalOf(database)).toContain('constraint coupons_created_by_fkey, index coupons_search: ');
    await database.sql(`
      create index coupons_search on coupons using gin (search_grams(coupon_code, 1));
      alter table coupons add constraint coupons_created_by_fkey foreign key (created_by) references staff_users`);
    expect(await refusalOf(database)).toBe('it starts');
  });
});
