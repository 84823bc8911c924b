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
      ...['update bullmq.migration set min_client_version = 99'],
    ]) {
      await expect(service.query(statement), statement).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('No type of a role stands for one of an index when a foreign key changes a row with the rights of the owner', async () => {
    const service = new pg.Client({ connectionString: asServiceRole(database.url) });
    await service.connect();
    onTestFinished(() => service.end());
    await database.sql(`insert into staff_users (id, name) overriding system value values (1, 'Asha')`);
    await service.query(`
      create temp table callers (name pg_catalog.text);
      grant insert on callers to public;
      create function pg_temp.note(pg_catalog.text) returns boolean language plpgsql as
        'begin insert into pg_temp.callers values (current_user); return true; end';
      create domain pg_temp.text as pg_catalog.text check (pg_temp.note(value));
      insert into coupons (id, coupon_code, created_by) overriding system value values (900, 'GONE', 1);
      insert into reserved_coupons (coupon_code, secret_code, created_by, claimed_coupon_id)
        select 'C', 'S' || n, 1, 900 from generate_series(1, 300) as n;
      truncate callers;
      delete from coupons where id = 900`);
    expect((await service.query('select distinct name from callers')).rows).toEqual([]);
  });

  it('No function that a foreign key runs with the rights of the owner depends on the search path of a session', async () => {
    const unsafe = `
      with changed as (select conrelid as oid from pg_constraint where confdeltype in ('c', 'n', 'd') or confupdtype in ('c', 'n', 'd')),
      run as (
        select tgfoid as oid from pg_trigger where tgrelid in (select oid from changed) and not tgisinternal
        union all select refobjid from pg_depend left join pg_index on classid = 'pg_class'::regclass and objid = indexrelid
          left join pg_constraint on classid = 'pg_constraint'::regclass and objid = pg_constraint.oid
        where refclassid = 'pg_proc'::regclass and coalesce(indrelid, conrelid) in (select oid from changed)
      )
      select proname from pg_proc where oid in (select oid from run) and not coalesce(proconfig @> array['search_path=pg_catalog, pg_temp'], false)`;
    expect(await database.sql(unsafe)).toEqual([]);
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
