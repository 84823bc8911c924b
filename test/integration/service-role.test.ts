import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { asServiceRole } from '../support/postgres.ts';
import { runProgram } from '../support/processes.ts';

describe('The role of the services', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.close());

  it('The role of the services may read and write rows, but not change the schema or the staff', async () => {
    const service = new pg.Client({ connectionString: asServiceRole(database.url) });
    await service.connect();
    onTestFinished(() => service.end());
    await service.query('select from staff_users');
    for (const statement of [
      ...['alter table slots add column x integer', 'drop table slots', 'truncate slots', 'create table x ()'],
      ...['create schema x', 'alter function store_request_id() cost 1'],
      ...[`insert into staff_users (name) values ('Mallory')`, `update staff_users set name = 'Mallory'`],
      ...[`insert into schema_migrations (name, run_on) values ('x', now())`, 'create table bullmq.x ()'],
    ]) {
      await expect(service.query(statement), statement).rejects.toMatchObject({ code: '42501' });
    }
  });

  it.each(['count_links', 'keep_freed_ids'])(
    'Nothing of a role runs with the rights of the owner in %s',
    async (trigger) => {
      const service = new pg.Client({ connectionString: asServiceRole(database.url) });
      await service.connect();
      onTestFinished(() => service.end());
      const columns = 'id pg_temp.own, coupon_id pg_temp.own';
      await service.query(`create type pg_temp.own as (value bigint); create temp table users (${columns})`);
      await expect(
        service.query(`create trigger own after delete on pg_temp.users
        referencing old table as deleted for each statement execute function ${trigger}('users')`),
      ).rejects.toMatchObject({ code: '42501' });
    },
  );

  it('The migration refuses to give the services the role that owns the schema', async () => {
    const env = { DATABASE_URL: database.url, SERVICE_DATABASE_URL: database.url };
    const { code, stderr } = await runProgram('shared/db/migrate-main.ts', [], env);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'migrate: SERVICE_DATABASE_URL must name another role than DATABASE_URL, and no superuser\n',
    });
  });
});
