import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { grantServiceRole } from '../../shared/db/service-role.ts';
import { eventually } from '../support/eventually.ts';
import { programFolder, queryOnce } from '../support/postgres-server.ts';
import { signToken } from '../support/tokens.ts';
import { blocksUnder, Deployment, makeFolder } from './recovery-stage.ts';

const reason = programFolder === undefined ? ' (skipped: no PostgreSQL of Debian, of the package postgresql)' : '';
const page = 'docs/your-data.md';

describe.skipIf(programFolder === undefined)(`${page}${reason}`, { timeout: 300_000 }, () => {
  async function deploy() {
    const folder = await makeFolder();
    const deployment = await Deployment.create(folder, 'a', undefined, ['wal_level=logical']);
    const { owner, service } = deployment.urls;
    await migrate(owner);
    await grantServiceRole(owner, service);
    const sync = Object.assign(new URL(owner), { username: 'sync' }).href;
    const follow = (heading: string, index = 0, options: { TOKEN?: string; instead?: Record<string, string> } = {}) =>
      deployment.follow(heading, index, {
        ...{ page, cwd: folder, variables: { SYNC: sync, TOKEN: options.TOKEN ?? '' } },
        instead: options.instead ?? {},
      });
    return { deployment, follow };
  }
  const password = (url: string) => decodeURIComponent(new URL(url).password);
  const usersOf = (deployment: Deployment) =>
    deployment.sql('select external_id, name, mobile from users order by external_id');
  const imported = { external_id: '7f3d0c1a-5f0e-4a52-9a53-0a5a9c1f5b11', name: 'Asha Menon', mobile: '9845011223' };

  it('The command, the service and the load by SQL bring users in, each as the page says', async () => {
    const { deployment, follow } = await deploy();
    const [, told] = readFileSync(page, 'utf8').split('```\nusers: ');
    expect(await follow('The command')).toBe(`users: ${told?.split('\n')[0]}\n`);
    expect(await usersOf(deployment)).toEqual([imported, { external_id: 'c-2', name: 'Ravi', mobile: null }]);

    expect(await follow('Staff')).toContain('staff: 1 created');
    const env = { AUTH_STAFF_CLAIM: 'email', BUSINESS_CALLING_CODE: '91' };
    const [slot, coupon] = [await deployment.start('slot', { env }), await deployment.start('coupon', { env })];
    const instead = {
      'localhost:8051': `127.0.0.1:${slot.ports.webPort}`,
      'localhost:8052': `127.0.0.1:${coupon.ports.webPort}`,
    };
    const TOKEN = await signToken({ claims: { email: 'asha@example.com' } });
    const [importedJson, resolvedJson] = blocksUnder(page, 'The service', 'json');
    expect(JSON.parse(await follow('The service', 0, { TOKEN, instead }))).toEqual(JSON.parse(importedJson ?? ''));
    const [, redeemed] = (await follow('The service', 1, { TOKEN, instead })).split('{"valid":');
    expect(JSON.parse(`{"valid":${redeemed}`)).toMatchObject({
      valid: true,
      redemption: { userId: 3, discountAmount: '48' },
    });
    expect(JSON.parse(await follow('The service', 2, { TOKEN, instead }))).toMatchObject(
      Object.fromEntries(Object.entries(JSON.parse(resolvedJson ?? '')).filter(([kind]) => kind === 'users')),
    );

    const [grants = ''] = blocksUnder(page, 'SQL', 'sql');
    for (const statement of grants.split('\n').filter(Boolean)) {
      const run = /^(create|alter) role/.test(statement)
        ? (sql: string) => deployment.server.sql(sql)
        : (sql: string) => deployment.sql(sql);
      await run(statement.replace('...', password(deployment.urls.owner)));
    }
    await deployment.sql(`update users set name = 'Old' where external_id = 'c-2'`);
    const versions = () => deployment.sql('select external_id, xmin::text from users order by 1');
    const before = await versions();
    await follow('SQL', 0);
    const after = await versions();
    expect(after.filter((row, index) => row.xmin !== before[index]?.xmin)).toMatchObject([{ external_id: 'c-2' }]);
    await follow('SQL', 1);
    expect(await deployment.sql(`insert into products (name) values ('Oat') returning id`)).toEqual([{ id: 500003 }]);
  });

  it('A trigger on a staging table imports what logical replication brings, and keeps what can’t be taken', async () => {
    const { deployment } = await deploy();
    const { server, urls } = deployment;
    await server.sql('create database shop');
    const shop = Object.assign(new URL(server.url), { pathname: '/shop' }).href;
    const here = Object.assign(new URL(server.url), { pathname: new URL(urls.owner).pathname }).href;
    const table =
      'create schema staging; create table staging.customers (customer_id uuid primary key, full_name text, phone text)';
    await queryOnce(shop, table);
    await queryOnce(shop, 'create publication customers for table staging.customers');
    // A slot of the same server has to be made apart.
    await queryOnce(shop, `select pg_create_logical_replication_slot('customers', 'pgoutput')`);
    const [staging = '', subscription = ''] = blocksUnder(page, 'Logical replication', 'sql');
    await queryOnce(here, staging);
    await queryOnce(here, subscription.replace("'...'", `'${shop}'`).replace(';', ' with (create_slot = false)'));
    await eventually(async () =>
      expect(await queryOnce(here, 'select srsubstate::text from pg_subscription_rel')).toEqual([{ srsubstate: 'r' }]),
    );
    const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
    await queryOnce(
      shop,
      `insert into staging.customers values ('${id(1)}', 'Asha', '+91 98450 11223'), ('${id(2)}', 'Twin', '9845011223');
       insert into staging.customers values ('${id(3)}', 'Ravi', '9845000000');
       update staging.customers set full_name = 'Asha Menon' where customer_id = '${id(1)}'`,
    );
    await eventually(async () =>
      expect(await usersOf(deployment)).toEqual([
        { external_id: id(1), name: 'Asha Menon', mobile: '9845011223' },
        { external_id: id(3), name: 'Ravi', mobile: '9845000000' },
      ]),
    );
    expect(await queryOnce(here, 'select customer_id from staging.problems')).toEqual([{ customer_id: id(2) }]);
    await queryOnce(here, 'alter subscription customers disable');
  });
});
