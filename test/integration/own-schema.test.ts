import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readDatabase } from '../../shared/config/database.ts';
import { ConfigErrors } from '../../shared/config/variables.ts';
import { poolerProblem } from '../../shared/db/errors.ts';
import { migrate } from '../../shared/db/migrate.ts';
import { grantServiceRole } from '../../shared/db/service-role.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { orderOf, times } from '../support/calls.ts';
import type { TestDatabase } from '../support/database.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { createDatabaseFrom, describeSchema } from '../support/old-database.ts';
import { noPreparingPgBouncer, type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { queryOnce } from '../support/postgres-server.ts';
import { runProgram } from '../support/processes.ts';
import { fixture, startTestService, type TestService } from '../support/service.ts';
import { createSlot, readCovering } from '../support/slot-writes.ts';
import { signToken, withToken } from '../support/tokens.ts';

// The tables of a business, under names that the services use, too.
const business = `
  create table users (customer_id uuid primary key default gen_random_uuid(), full_name text, phone text);
  create table products (sku text primary key);
  create table orders (number text primary key, total integer);
  create table coupon_batches (x integer);
  create table coupon_usage (x integer);
  insert into users (full_name, phone) values ('Asha', '+919000000001');
  insert into products values ('MILK');
  insert into orders values ('A-1', 5);
  insert into coupon_batches values (1)`;
const businessRows = `select (select json_agg(u) from users u) as users, (select json_agg(p) from products p) as products,
  (select json_agg(o) from orders o) as orders, (select json_agg(b) from coupon_batches b) as batches,
  (select count(*) from coupon_usage) as usage`;

/** A deployment in a schema of its own, with a role of its own. */
class Deployment {
  readonly schema: string;
  readonly serviceUrl: string;
  readonly #client: pg.Client;
  readonly #transports: ReturnType<typeof createGrpcJsTransport>[] = [];
  services: TestService[] = [];

  private constructor(ownerUrl: string, schema: string, client: pg.Client) {
    this.schema = schema;
    this.serviceUrl = Object.assign(new URL(ownerUrl), { username: `${schema}_service`, password: 'of tests' }).href;
    this.#client = client;
  }

  static async create(ownerUrl: string, schema: string): Promise<Deployment> {
    const client = new pg.Client({ connectionString: ownerUrl, options: `-c search_path=${schema}` });
    await client.connect();
    const deployment = new Deployment(ownerUrl, schema, client);
    await migrate(ownerUrl, schema);
    await grantServiceRole(ownerUrl, deployment.serviceUrl, schema);
    await client.query(fixture);
    return deployment;
  }

  async sql<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(text, [...values])).rows;
  }

  /** @param pooled the URL of its pooler; undefined for none. */
  async start(pooled?: string): Promise<void> {
    const variables = {
      DATABASE_SCHEMA: this.schema,
      ...(pooled === undefined
        ? { DATABASE_URL: this.serviceUrl }
        : { DATABASE_URL: pooled, DATABASE_DIRECT_URL: this.serviceUrl }),
    };
    const given: TestDatabase = {
      url: this.serviceUrl,
      sql: (text, values) => this.sql(text, values),
      close: async () => {},
    };
    for (const name of ['slot', 'coupon'] as const) {
      const database = readDatabase(`${name}-service`, variables, new ConfigErrors());
      this.services.push(await startTestService(name, () => ({ database }), given));
    }
  }

  async api() {
    const token = await signToken({ staffId: 1 });
    const [slot, coupon] = this.services.map(({ grpcPort }) => {
      const transport = createGrpcJsTransport(`127.0.0.1:${grpcPort}`);
      this.#transports.push(transport);
      return withToken(transport, token);
    });
    if (slot === undefined || coupon === undefined) throw new Error('the services are not started');
    return {
      slots: createClient(SlotService, slot),
      stores: createClient(SlotStoreService, slot),
      coupons: createClient(CouponService, coupon),
      redemptions: createClient(RedemptionService, coupon),
    };
  }

  async stop(): Promise<void> {
    for (const transport of this.#transports) transport.close();
    await Promise.all(this.services.map((service) => service.stop(1_000)));
    await this.#client.end();
  }
}

describe('Two deployments in the database of a business', () => {
  let url: string;
  let rowsBefore: unknown;
  let schemaBefore: string[];
  let first: Deployment;
  let second: Deployment;
  let pooler: PgBouncer | undefined;

  beforeAll(async () => {
    ({ url } = await createDatabaseFrom());
    await queryOnce(url, business);
    rowsBefore = await queryOnce(url, businessRows);
    schemaBefore = await describeSchema(url);
    [first, second] = await Promise.all([Deployment.create(url, 'delivery'), Deployment.create(url, 'user')]);
    const options = { mode: 'transaction', poolSize: 4, preparedStatements: 200 } as const;
    pooler = noPreparingPgBouncer === undefined ? await startPgBouncer(second.serviceUrl, options) : undefined;
    await first.start();
    await second.start(pooler?.url);
  });
  afterAll(async () => {
    await pooler?.stop();
    await Promise.all([first.stop(), second.stop()]);
  });

  it('Under load at once, each deployment writes, counts and is notified of its own alone', async () => {
    const apis = await Promise.all([first.api(), second.api()]);
    const [one, two] = apis;
    const { coupon } = await one.coupons.create({
      coupon: { couponCode: 'ONCE', flatDiscount: 5, isApplyForAll: true, maxLimitForUser: 3 },
    });
    expect(coupon?.id).toBe(1);
    await two.coupons.create({
      coupon: { couponCode: 'ONCE', flatDiscount: 7, isApplyForAll: true, maxLimitForUser: 5 },
    });
    const load = apis.map(async ({ slots, stores, redemptions }, at) => {
      const written = await Promise.all(Array.from({ length: 20 }, () => createSlot({ slots }, [1, 2])));
      for (const each of written) expect(await readCovering({ stores }, each, 30_000)).toContain(each.slotId);
      const redeemed = await Promise.all(
        Array.from({ length: 16 }, (_none, n) => redemptions.redeem({ ...orderOf(n), code: 'ONCE' })),
      );
      expect(redeemed.filter(({ valid }) => valid)).toHaveLength(at === 0 ? 3 : 5);
      expect((await slots.getSlots({})).count).toBe(20);
    });
    await Promise.all(load);
    expect(await first.sql('select count(*)::integer as n from coupon_usage where used + held > 0')).not.toEqual([
      { n: 0 },
    ]);
    const { pendingRequests } = await one.stores.getStoreStatus({});
    expect(pendingRequests).toBe(0);
  });

  it('A sequence that one deployment changes is told to its own replicas alone', async () => {
    const { slots } = await second.api();
    const { slot } = await slots.createSlot(times);
    const listening = new pg.Client({ connectionString: url });
    await listening.connect();
    const told: string[] = [];
    listening.on('notification', ({ channel }) => told.push(channel));
    await listening.query(
      'listen delivery_sequence; listen "delivery.delivery_sequence"; listen "user.delivery_sequence"',
    );
    const deliverySequence = fromJson(ValueSchema, { 1: [2] });
    await slots.updateDeliverySequence({ id: slot?.id, deliverySequence });
    await expect.poll(() => told).toEqual(['user.delivery_sequence']);
    await listening.end();
  });

  it("Locks, channels and queues have the schema's name, and those of public the names of earlier releases", async () => {
    expect(await first.sql(`select own_name('x') as name`)).toEqual([{ name: 'delivery.x' }]);
    expect(await queryOnce((await migratedPublic()).url, `select own_name('x') as name`)).toEqual([{ name: 'x' }]);
    const queues = await first
      .sql<{ name: string }>('select distinct queue as name from bullmq.job order by 1')
      .catch(() => []);
    expect(queues.every(({ name }) => name.includes('.'))).toBe(true);
  });

  it("The operator's commands know the schema", async () => {
    const env = { DATABASE_URL: url, DATABASE_SCHEMA: 'delivery' };
    const added = await runProgram('shared/auth/staff-main.ts', ['add', 'Meena'], env);
    expect(added.stdout).toMatch(/^\d+\tactive\tMeena\n$/);
    expect(await first.sql(`select from staff_users where name = 'Meena'`)).toHaveLength(1);
    expect(await second.sql(`select from staff_users where name = 'Meena'`)).toHaveLength(0);
    const recovered = await runProgram('shared/audit/recovered-main.ts', [], env);
    expect(recovered.stdout).toMatch(/^changes may be missing/);
    expect(await second.sql(`select from audit_entries where resource_type = 'database'`)).toHaveLength(0);
    const migrated = await runProgram('shared/db/migrate-main.ts', [], {
      ...env,
      SERVICE_DATABASE_URL: first.serviceUrl,
    });
    expect(migrated).toMatchObject({ code: 0, stdout: 'nothing to migrate\ngranted to delivery_service\n' });
  });

  it.skipIf(noPreparingPgBouncer)('The commands of the owner need a way past the pooler, and say so', async () => {
    const env = { DATABASE_URL: pooler?.url ?? '', DATABASE_SCHEMA: 'user' };
    for (const [program, args] of [
      ['shared/auth/staff-main.ts', ['list']],
      ['shared/db/migrate-main.ts', []],
      ['shared/audit/recovered-main.ts', []],
    ] as const) {
      const refused = await runProgram(program, args, env);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('set DATABASE_DIRECT_URL to the way') });
      expect(await runProgram(program, args, { ...env, DATABASE_DIRECT_URL: url })).toMatchObject({ code: 0 });
    }
  });

  it('A coupon that is changed by hand, under the search path of the business, is counted in its own schema', async () => {
    await first.sql(`insert into coupon_batches (id, name, count, created_by) values (1, 'Batch', 1, 1)`);
    await first.sql(`insert into coupons (coupon_code, batch_id, created_by) values ('OF-BATCH', 1, 1)`);
    await queryOnce(url, `update delivery.coupons set is_invalidated = true where coupon_code = 'OF-BATCH'`);
    expect(await first.sql('select invalidated from coupon_batches')).toEqual([{ invalidated: 1 }]);
  });

  it('A service refuses to start where its schema is another one than DATABASE_SCHEMA says', async () => {
    const ports = { COUPON_GRPC_PORT: '0', COUPON_WEB_PORT: '0' };
    const env = { ...ports, DATABASE_URL: first.serviceUrl, DATABASE_SCHEMA: '', AUTH_JWT_SECRET: 'x'.repeat(32) };
    const { code, stderr } = await runProgram('services/coupon-service/main.ts', [], env);
    expect(code).toBe(1);
    expect(stderr).toContain('the schema public is not migrated: run `start:migrate` first, or set DATABASE_SCHEMA');
  });

  it('Tables of the business keep their shape and their rows', async () => {
    expect(await describeSchema(url)).toEqual(schemaBefore);
    expect(await queryOnce(url, businessRows)).toEqual(rowsBefore);
  });
});

async function migratedPublic(): Promise<{ readonly url: string }> {
  const database = await createDatabaseFrom();
  await migrate(database.url);
  return database;
}

describe('DATABASE_SCHEMA', () => {
  it.each(['Delivery', 'a b', 'pg_own', 'information_schema', '1st', 'x'.repeat(41), 'a"b'])(
    'refuses the name %s',
    (DATABASE_SCHEMA) => {
      const errors = new ConfigErrors();
      readDatabase('slot-service', { DATABASE_URL: 'postgres://localhost/x', DATABASE_SCHEMA }, errors);
      expect(() => errors.throwIfAny()).toThrow('DATABASE_SCHEMA must be a name');
    },
  );

  it('is the last search path of a session whose URL has options of its own', () => {
    const variables = {
      DATABASE_URL: `${inject('postgresUrl')}/x?options=-csearch_path%3Dx`,
      DATABASE_SCHEMA: 'delivery',
    };
    const { url } = readDatabase('slot-service', variables, new ConfigErrors());
    expect(new URL(url).searchParams.get('options')).toMatch(/^-csearch_path=x -c .* -c search_path="delivery"$/);
  });

  it('is refused by older poolers, for which the log and a failed start name the way past', () => {
    const refusal = new pg.DatabaseError('unsupported startup parameter: options', 0, 'error');
    expect(poolerProblem(refusal)).toContain('set DATABASE_DIRECT_URL');
  });
});
