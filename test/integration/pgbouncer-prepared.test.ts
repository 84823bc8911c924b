import type { DescService } from '@bufbuild/protobuf';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { ImportService } from '../../shared/gen/catalog/v1/import_service_pb.ts';
import { CouponBatchService } from '../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { isMutation } from '../../shared/rpc/procedure.ts';
import { procedures, recordsForCalls } from '../support/calls.ts';
import { expectError } from '../support/contract.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { holding } from '../support/locks.ts';
import {
  batchMutations,
  bookingMutations,
  couponMutations,
  importMutations,
  type Mutations,
  redemptionMutations,
  slotMutations,
} from '../support/mutations.ts';
import { noPreparingPgBouncer, type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { asServiceRole } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { openSlot, outcomeOf } from '../support/slot-writes.ts';
import { signToken, withToken } from '../support/tokens.ts';

const reason = noPreparingPgBouncer === undefined ? '' : ` (skipped: ${noPreparingPgBouncer})`;
const poolSize = 4;

describe.skipIf(noPreparingPgBouncer)(`Behind PgBouncer in transaction mode, with prepared statements${reason}`, () => {
  let pooler: PgBouncer;
  let token: string;
  let slots: TestService;
  let coupons: TestService;
  const transports: ReturnType<typeof createGrpcJsTransport>[] = [];
  const staffOf = ({ grpcPort }: TestService): Transport => {
    const transport = createGrpcJsTransport(`127.0.0.1:${grpcPort}`);
    transports.push(transport);
    return withToken(transport, token);
  };

  /** The same database, through the pooler, which takes no startup options. */
  const pooled = (url: string) => Object.assign(new URL(pooler.url), { pathname: new URL(url).pathname }).href;
  /** Starts a service of which LISTEN and the jobs alone go past the pooler. */
  const start = (name: 'slot' | 'coupon') =>
    startTestService(name, ({ database }) => ({
      database: { ...database, url: pooled(database.directUrl), directUrl: database.url },
    }));

  beforeAll(async () => {
    const options = { mode: 'transaction', poolSize, preparedStatements: 200 } as const;
    pooler = await startPgBouncer(asServiceRole(`${inject('postgresUrl')}/postgres`), options);
    token = await signToken({ staffId: 1 });
    [slots, coupons] = [await start('slot'), await start('coupon')];
    for (const { database } of [slots, coupons]) await database.sql(recordsForCalls);
  });
  afterAll(async () => {
    for (const transport of transports) transport.close();
    // First, because its connections to the database would count as left open.
    await pooler.stop();
    await slots.stop();
    await coupons.stop();
  });

  /** The queries of both services, or those of that name, that were not answered. */
  async function failedReads(only?: string): Promise<string[]> {
    const failed = Object.entries({ slot: slots, coupon: coupons }).flatMap(([name, service]) => {
      const transport = staffOf(service);
      const queries = procedures[name === 'slot' ? 'slot' : 'coupon'].filter(({ method }) => !isMutation(method));
      return queries
        .filter((query) => only === undefined || query.name === only)
        .map(async ({ name: query, succeeds }) => {
          const error = await outcomeOf(succeeds(transport, 1));
          return error === undefined ? [] : [`${query}: ${error.message}`];
        });
    });
    return (await Promise.all(failed)).flat();
  }

  /** Makes each mutation with a key, and again with the same key. */
  async function mutateTwice<Service extends DescService>(
    api: Client<Service>,
    mutations: Mutations<Client<Service>>,
    { database }: TestService,
  ): Promise<void> {
    const twice = Object.entries(mutations).map(async ([name, prepare]) => {
      const { call, changes } = await prepare(database.sql);
      const headers = { 'idempotency-key': crypto.randomUUID(), 'x-request-id': crypto.randomUUID() };
      const answer = await call(api, { headers });
      expect(await call(api, { headers }), name).toEqual(answer);
      const entries = await database.sql('select from audit_entries where request_id = $1', [headers['x-request-id']]);
      expect(entries, name).toHaveLength(changes.length);
    });
    await Promise.all(twice);
  }

  it('Twenty of every query at once are answered over four connections', async () => {
    expect((await Promise.all(Array.from({ length: 20 }, () => failedReads()))).flat()).toEqual([]);
    const pooled = await slots.database.sql(
      `select from pg_stat_activity where datname = current_database() and application_name = 'slot-service'`,
    );
    expect(pooled.length).toBeLessThanOrEqual(poolSize);
  });

  it('Every mutation that is sent twice with a key is carried out once', async () => {
    await mutateTwice(createClient(SlotService, staffOf(slots)), slotMutations, slots);
    await mutateTwice(createClient(SlotBookingService, staffOf(slots)), bookingMutations, slots);
    await mutateTwice(createClient(ImportService, staffOf(slots)), importMutations, slots);
    await mutateTwice(createClient(CouponService, staffOf(coupons)), couponMutations, coupons);
    await mutateTwice(createClient(RedemptionService, staffOf(coupons)), redemptionMutations, coupons);
    await mutateTwice(createClient(CouponBatchService, staffOf(coupons)), batchMutations, coupons);
  });

  it('Statements that were prepared go on after a migration has added a column to their tables', async () => {
    expect(await failedReads()).toEqual([]);
    for (const { database } of [slots, coupons]) {
      for (const table of ['slots', 'vendor_snippets', 'coupons', 'reserved_coupons', 'users', 'products']) {
        await database.sql(`alter table ${table} add column added_later integer default 1`);
      }
    }
    expect(await failedReads()).toEqual([]);
    await mutateTwice(createClient(SlotService, staffOf(slots)), slotMutations, slots);
    await mutateTwice(createClient(CouponService, staffOf(coupons)), couponMutations, coupons);
  });

  it('A statement that could not be prepared is prepared again once its table is there', async () => {
    const read = 'CatalogService.listProductGroups';
    await slots.database.sql('alter table product_groups rename to elsewhere');
    // On each connection.
    for (let n = 1; n <= 20; n += 1) expect(await failedReads(read)).toHaveLength(1);
    await slots.database.sql('alter table elsewhere rename to product_groups');
    for (let n = 1; n <= 20; n += 1) expect(await failedReads(read)).toEqual([]);
  });

  it.each<[string, () => unknown]>([
    ['PgBouncer was restarted', () => pooler.restart()],
    [
      'PgBouncer lost its connections to the database',
      () =>
        slots.database.sql(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and application_name = 'slot-service'`,
        ),
    ],
  ])('After %s, calls are answered again', async (_what, disturb) => {
    expect(await failedReads()).toEqual([]);
    await disturb();
    // A call that meets a lost connection fails, and has it replaced.
    await expect.poll(() => failedReads()).toEqual([]);
    for (let n = 1; n <= 10; n += 1) expect(await failedReads()).toEqual([]);
  });

  it('While PgBouncer reads its configuration again, no call fails', async () => {
    for (let n = 1; n <= 10; n += 1) {
      const calls = failedReads();
      pooler.reload();
      expect(await calls).toEqual([]);
    }
  });

  it('The timeouts of the role hold, where PgBouncer drops those of the service', async () => {
    const { pathname } = new URL(slots.database.url);
    const [database, role] = [pathname.slice(1), new URL(asServiceRole(slots.database.url)).username];
    const set = (name: string, value: string) =>
      slots.database.sql(`alter role ${role} in database ${database} set ${name} = '${value}'`);
    await set('statement_timeout', '500ms');
    await set('idle_in_transaction_session_timeout', '500ms');
    await pooler.restart();
    await expect.poll(() => failedReads()).toEqual([]);
    await holding(slots.database.url, 'lock table slots in exclusive mode', async () => {
      const late = createClient(SlotService, staffOf(slots)).createSlot(openSlot());
      await expectError(late, 'DATABASE_STATEMENT_TIMEOUT');
    });
    const connectionString = Object.assign(new URL(pooler.url), { pathname }).href;
    const client = new pg.Client({ connectionString, idle_in_transaction_session_timeout: 60_000 });
    // PgBouncer may report the server's end of the session, and then that its connection is gone.
    const lost = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    await client.query('begin');
    await lost;
    await client.end();
    expect(await outcomeOf(client.query('select'))).toBeDefined();
  });
});
