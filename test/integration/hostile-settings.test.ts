import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { readDatabase } from '../../shared/config/database.ts';
import { inSession, requiredSettings } from '../../shared/config/session.ts';
import { type ConfigError, ConfigErrors } from '../../shared/config/variables.ts';
import { Database } from '../../shared/db/database.ts';
import { assertMigrated } from '../../shared/db/schema.ts';
import { grantServiceRole } from '../../shared/db/service-role.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { times } from '../support/calls.ts';
import { createDatabase, makeDatabases } from '../support/database.ts';
import { hostileSettings, makeHostile } from '../support/hostile-settings.ts';
import { createDatabaseFrom } from '../support/old-database.ts';
import { noPreparingPgBouncer, type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { asServiceRole } from '../support/postgres.ts';
import { queryOnce } from '../support/postgres-server.ts';
import { runProgram } from '../support/processes.ts';
import { viaPort } from '../support/proxy.ts';
import { addCouponOf, newOrder } from '../support/redemptions.ts';
import { runService } from '../support/running-service.ts';

/** Contract tests that also run in a database with these settings. */
const contracts = [
  ...['slot/create-slot', 'bookings/book', 'plan/list-slots', 'imports/import-orders', 'stores/get-open-slots'],
  ...['coupon/create', 'redemption/redeem', 'audit/list-entries'],
];

/** Declares contract tests. Each `way` declares them anew. */
async function declareContracts(way: string): Promise<void> {
  for (const name of contracts) await import(/* @vite-ignore */ `../contract/${name}.test.ts?${way}`);
}

function declareRaces(): void {
  const coupons = runService('coupon');
  const slots = runService('slot');

  it('Of 60 orders at once, a coupon for 5 is used by 5', async () => {
    const { code } = await addCouponOf(coupons.sql, { max_uses: 5 });
    const { redeem } = createClient(RedemptionService, coupons.guest);
    const calls = Array.from({ length: 60 }, (_none, n) => redeem({ code, ...newOrder(), userId: 1 + (n % 5) }));
    expect((await Promise.all(calls)).filter(({ valid }) => valid)).toHaveLength(5);
  });

  it('Of 20 calls at once for one order, those for one of two exclusive coupons are valid', async () => {
    const codes = [
      (await addCouponOf(coupons.sql, { exclusive_apply: true })).code,
      (await addCouponOf(coupons.sql, { exclusive_apply: true })).code,
    ];
    const { redeem } = createClient(RedemptionService, coupons.guest);
    const order = newOrder();
    await Promise.all(Array.from({ length: 20 }, (_none, n) => redeem({ ...order, code: codes[n % 2] ?? '' })));
    expect(await coupons.sql('select from redemptions where order_key = $1', [order.orderKey])).toHaveLength(1);
  });

  it('Of 8 calls of CopySlots at once, one copies', async () => {
    const { slot } = await createClient(SlotService, slots.staff).createSlot(times);
    const { copySlots } = createClient(SlotPlanService, slots.staff);
    const asked = { slotIds: [slot?.id ?? 0], shiftDays: 1 };
    const answers = await Promise.all(Array.from({ length: 8 }, () => copySlots(asked)));
    expect(answers.map(({ created }) => created).toSorted()).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
  });

  it('Of 30 orders at once, a slot for 10 is booked by 10', async () => {
    const { slot } = await createClient(SlotService, slots.staff).createSlot({ ...times, capacity: 10 });
    const { book } = createClient(SlotBookingService, slots.guest);
    const calls = Array.from({ length: 30 }, () => book({ slotId: slot?.id, ...newOrder() }));
    expect((await Promise.all(calls)).filter(({ booked }) => booked)).toHaveLength(10);
  });
}

describe('In a database and with a role whose settings are hostile', async () => {
  beforeAll(() =>
    makeDatabases({
      async prepare(url) {
        await makeHostile(url);
        return { DATABASE_URL: asServiceRole(url) };
      },
      release: async () => undefined,
    }),
  );
  afterAll(() => makeDatabases());

  describe('callers at once', declareRaces);
  await declareContracts('directly');
});

const reason = noPreparingPgBouncer === undefined ? '' : ` (skipped: ${noPreparingPgBouncer})`;
describe.skipIf(noPreparingPgBouncer)(`Behind PgBouncer, before such a database${reason}`, async () => {
  let pooler: PgBouncer;
  beforeAll(async () => {
    const options = { mode: 'transaction', poolSize: 10, preparedStatements: 200 } as const;
    pooler = await startPgBouncer(asServiceRole(`${inject('postgresUrl')}/postgres`), options);
    makeDatabases({
      async prepare(url) {
        await makeHostile(url);
        const service = asServiceRole(url);
        await grantServiceRole(url, service);
        // The migration leaves it, which may be stronger.
        await queryOnce(
          url,
          `alter role service in database ${new URL(url).pathname.slice(1)} set synchronous_commit = on`,
        );
        return { DATABASE_URL: viaPort(service, Number(new URL(pooler.url).port)), DATABASE_DIRECT_URL: service };
      },
      // Its connections would count as left open.
      release: () => pooler.restart(),
    });
  });
  afterAll(async () => {
    makeDatabases();
    await pooler.stop();
  });

  describe('callers at once', declareRaces);
  await declareContracts('pooled');
});

describe('A start behind a pooler', () => {
  /** Returns a database with a function that starts with it, as behind a pooler: without startup options. */
  async function createStart() {
    const testDatabase = await createDatabase();
    onTestFinished(() => testDatabase.close());
    const service = asServiceRole(testDatabase.url);
    const variables = { DATABASE_URL: service, DATABASE_DIRECT_URL: `${service}?application_name=direct` };
    const config = readDatabase('slot-service', variables, new ConfigErrors());
    const start = async () => {
      const database = new Database(config, createLogger('test', 'silent'));
      await assertMigrated(database, config.schema).finally(() => database.close());
    };
    return { testDatabase, start };
  }

  const values: Readonly<Record<string, string>> = { ...hostileSettings, session_replication_role: 'replica' };
  it.each(Object.keys(requiredSettings).map((name) => [name, values[name]]))(
    'A start behind a pooler is refused while the role has %s = %s, until the named statement was run',
    async (name = '', value) => {
      if (value === undefined) throw new Error(`no hostile value of ${name} is known`);
      const { testDatabase, start } = await createStart();
      await start();
      await makeHostile(testDatabase.url, { [name]: value });
      const refusal = await start().then(String, ({ message }: ConfigError) => message);
      expect(refusal).toMatch(`the session has ${name} = `);
      const [, cure = ''] = /`(.*)`/.exec(refusal) ?? [];
      await testDatabase.sql(cure);
      await start();
    },
  );

  it('A start behind a pooler takes more digits than are needed, and the other name of READ COMMITTED', async () => {
    const { testDatabase, start } = await createStart();
    await makeHostile(testDatabase.url, {
      extra_float_digits: '3',
      default_transaction_isolation: 'read uncommitted',
    });
    await start();
  });
});

describe("The operator's commands", () => {
  it("The operator's commands do their work where the settings of the database are hostile", async () => {
    const { name, url } = await createDatabaseFrom();
    const known = await queryOnce<{ name: string }>(url, 'select name from pg_settings');
    const settings = Object.entries(hostileSettings).filter(([setting]) => known.some((row) => row.name === setting));
    await queryOnce(
      url,
      settings.map(([setting, value]) => `alter database ${name} set ${setting} = '${value}'`).join(';'),
    );
    const env = { DATABASE_URL: url, SERVICE_DATABASE_URL: asServiceRole(url), BUSINESS_CALLING_CODE: '91' };
    const migrated = await runProgram('shared/db/migrate-main.ts', [], env);
    expect(migrated).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/\ngranted to service\n$/) });
    const added = await runProgram('shared/auth/staff-main.ts', ['add', 'Meena'], env);
    expect(added).toMatchObject({ code: 0, stdout: '1\tactive\tMeena\n' });
    const folder = await mkdtemp(path.join(tmpdir(), 'hostile-test-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'products');
    await writeFile(file, '{"external_id":"p-1","name":"Back\\\\slash","images":[]}\n');
    const imported = await runProgram('services/slot-service/import-command/import-main.ts', ['products', file], env);
    expect(imported.stdout).toBe('products: 1 created, 0 changed, 0 unchanged, 0 refused\n');
    await queryOnce(inSession(url, 'public'), `alter database ${name} set session_replication_role = replica`);
    const refused = await runProgram('shared/auth/staff-main.ts', ['add', 'Asha'], env);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('session_replication_role = replica') });
  });
});
