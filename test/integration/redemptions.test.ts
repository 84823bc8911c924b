import { randomUUID } from 'node:crypto';
import { type CallOptions, createClient } from '@connectrpc/connect';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService, RedemptionState } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { expectError, failureOf } from '../support/contract.ts';
import { createDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { holding } from '../support/locks.ts';
import { grpc } from '../support/protocols.ts';
import { addCouponOf, letRunOut, newOrder } from '../support/redemptions.ts';
import { runService, type ServiceInTests } from '../support/running-service.ts';
import { scrape } from '../support/scrape.ts';
import { fixture, startTestService } from '../support/service.ts';
import { signToken, withToken } from '../support/tokens.ts';

const misses = 3;
const notFound = { valid: false, message: 'Coupon not found or invalidated' };
/** The id of no user. */
const unknown = 2_147_480_000;

/** A client of redemptions and one of coupons, as staff with a subject. */
const clientsOf = (service: ServiceInTests, subject = 'tester') => {
  const transport = service.as({ staffId: 1, subject });
  return [createClient(RedemptionService, transport), createClient(CouponService, transport)] as const;
};

type Guess = (
  clients: ReturnType<typeof clientsOf>,
  code: string,
  userId: number,
  options: CallOptions,
) => Promise<unknown>;

describe('A coupon-service with redemptions', () => {
  const service = runService('coupon');
  const { sql } = service;
  const [api, coupons] = clientsOf(service);

  it('Of forty orders of a user at once exactly as many succeed as the limit allows, and the others are refused', async () => {
    const { code } = await addCouponOf(sql, { max_limit_for_user: 3 });
    const answers = await Promise.all(Array.from({ length: 40 }, () => api.redeem({ code, ...newOrder() })));
    expect(answers.filter(({ valid }) => valid)).toHaveLength(3);
    expect(new Set(answers.map(({ message }) => message))).toEqual(new Set([undefined, 'Coupon limit reached']));
  });

  it('Of orders that count at the same moment exactly as many use a coupon as all users may', async () => {
    const { id, code } = await addCouponOf(sql, { max_uses: 1 });
    await sql('insert into coupon_usage select $1, n, 0, 0, 0, 0, 0 from generate_series(0, 15) n', [id]);
    // A redemption is counted where it is written.
    const lockCounts = `select from coupon_usage where coupon_id = ${id} for update`;
    const answers = await holding(service.database.url, lockCounts, async (lock) => {
      const redeeming = [1, 2, 3, 4].map((userId) => api.redeem({ code, ...newOrder(), userId }));
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await sql(waiting)).length).toBe(4);
      await lock.release();
      return Promise.all(redeeming);
    });
    expect(answers.filter(({ valid }) => valid)).toHaveLength(1);
  });

  it('Of two exclusive coupons that an order redeems at once one succeeds, twenty times', async () => {
    const [one, two] = [
      await addCouponOf(sql, { exclusive_apply: true }),
      await addCouponOf(sql, { exclusive_apply: true }),
    ];
    for (let left = 20; left > 0; left -= 1) {
      const order = newOrder();
      const answers = await Promise.all([one, two].map(({ code }) => api.redeem({ code, ...order })));
      expect(answers.filter(({ valid }) => valid)).toHaveLength(1);
    }
  });

  it('An order of 10,000 products is compared with a coupon of 100,000, after many small orders', async () => {
    const { id, code } = await addCouponOf(sql);
    await sql('update coupons set product_ids = array(select generate_series(1, 100000)) where id = $1', [id]);
    // PostgreSQL chooses the plan by the first calls on each of its connections.
    for (let left = 100; left > 0; left -= 1) await api.redeem({ code, ...newOrder(), productIds: [0] });
    const redeem = (first: number) =>
      api.redeem({ code, ...newOrder(), productIds: Array.from({ length: 10_000 }, (_id, n) => first + n) });
    expect((await redeem(100_001)).message).toBe('Coupon does not apply to these products');
    expect((await redeem(100_000)).valid).toBe(true);
  });

  it.each([
    ['one that all users have used up', { max_uses: 1 }, { maxUses: 2 }],
    ['one that its user may not use again', { max_limit_for_user: 1 }, { maxLimitForUser: 2 }],
    ['one below whose minimum the order is', { min_order: 1_000 }, { minOrder: 100 }],
  ])(
    'A refusal is judged by the coupon as it is when it counts: %s, until staff change it',
    async (_what, given, coupon) => {
      const { id, code } = await addCouponOf(sql, given);
      await api.redeem({ code, ...newOrder() });
      const order = newOrder();
      const lockOrder = `select pg_advisory_xact_lock(hashtext(own_name('redemptions of an order')), hashtext('${order.orderKey}'))`;
      await holding(service.database.url, lockOrder, async (lock) => {
        const redeeming = api.redeem({ code, ...order });
        await lock.untilAwaited();
        await coupons.update({ id, updates: { coupon } });
        await lock.release();
        expect((await redeeming).valid).toBe(true);
      });
    },
  );

  it('Orders redeem a coupon that staff edit all the time', async () => {
    const { id, code } = await addCouponOf(sql);
    let isOver = false;
    const edit = async () => {
      for (let minOrder = 0; !isOver; minOrder += 1)
        await coupons.update({ id, updates: { coupon: { minOrder: minOrder % 100 } } });
    };
    const editing = Promise.all([edit(), edit(), edit(), edit()]);
    const answers = await Promise.allSettled(Array.from({ length: 300 }, () => api.redeem({ code, ...newOrder() })));
    isOver = true;
    await editing;
    expect(answers.filter(({ status }) => status === 'rejected')).toEqual([]);
  });
});

describe('A coupon-service with redemptions and VALIDATE_MISSES_PER_MINUTE', () => {
  const service = runService('coupon', () => ({ validateMissesPerMinute: misses }));
  const { sql } = service;

  it('The misses of Redeem and Claim are counted together with those of Validate, with a key and without', async () => {
    const [api, coupons] = clientsOf(service, 'guesser of codes');
    expect(await coupons.validate({ code: 'NONE' })).toMatchObject(notFound);
    const options = { headers: { 'idempotency-key': randomUUID() } };
    expect(await api.redeem({ code: 'NONE', ...newOrder() }, options)).toMatchObject(notFound);
    expect((await failureOf(api.claim({ secretCode: 'NONE', userId: 1 }))).rawMessage).toBe('Secret code not found');
    await expectError(coupons.validate({ code: 'NONE' }), 'TOO_MANY_MISSES');
    await expectError(api.claim({ secretCode: 'NONE', userId: 1 }), 'TOO_MANY_MISSES');
    const { code } = await addCouponOf(sql);
    await expectError(api.redeem({ code, ...newOrder() }), 'TOO_MANY_MISSES');
    const [other] = clientsOf(service, 'another');
    expect((await other.redeem({ code, ...newOrder() })).valid).toBe(true);
  });

  it('A miss of Check is one of Redeem, too; an empty code is none', async () => {
    const [api] = clientsOf(service, 'guesser who checks');
    for (let left = 2 * misses; left > 0; left -= 1) await api.check({ code: '' });
    for (let left = misses; left > 0; left -= 1) expect((await api.check({ code: 'NONE' })).valid).toBe(false);
    const { code } = await addCouponOf(sql);
    await expectError(api.check({ code }), 'TOO_MANY_MISSES');
    await expectError(api.redeem({ code, ...newOrder() }), 'TOO_MANY_MISSES');
  });

  it.each<[what: string, mayHaveKey: boolean, call: Guess]>([
    ['Redeem', true, ([api], code, userId, options) => api.redeem({ ...newOrder(), code, userId }, options)],
    ['Check', false, ([api], code, userId) => api.check({ code, userId })],
    ['Claim', true, ([api], secretCode, userId, options) => api.claim({ secretCode, userId }, options)],
  ])(
    'A miss of %s counts where its user is unknown, too, and a code that exists is none',
    async (what, mayHaveKey, call) => {
      const { code } = await addCouponOf(sql);
      await sql(`insert into reserved_coupons (secret_code, coupon_code, created_by) values ($1, $1, 1)`, [code]);
      for (const isKeyed of mayHaveKey ? [false, true] : [false]) {
        const options = () => ({ headers: isKeyed ? { 'idempotency-key': randomUUID() } : {} });
        const clients = clientsOf(service, `guesser of ${what} without a user ${isKeyed}`);
        const refused = async (code: string) => expectError(call(clients, code, unknown, options()), 'USER_NOT_FOUND');
        for (let left = 2 * misses; left > 0; left -= 1) await refused(code);
        for (let left = misses; left > 0; left -= 1) await refused(`NONE-${left}`);
        for (const userId of [unknown, 1]) await expectError(call(clients, code, userId, options()), 'TOO_MANY_MISSES');
      }
    },
  );

  it('An invalidated code is a miss of Redeem and Check where the user is unknown', async () => {
    const { code } = await addCouponOf(sql, { is_invalidated: true });
    const [api] = clientsOf(service, 'guesser of invalidated codes');
    for (let left = misses; left > 0; left -= 1) {
      const call =
        left % 2 === 0 ? api.check({ code, userId: unknown }) : api.redeem({ ...newOrder(), code, userId: unknown });
      await expectError(call, 'USER_NOT_FOUND');
    }
    await expectError(api.check({ code, userId: unknown }), 'TOO_MANY_MISSES');
  });

  it('Of many guesses at once, with keys, no more are answered than a caller may miss', async () => {
    const [api] = clientsOf(service, 'guesser at once');
    const guesses = Array.from({ length: 60 }, (_guess, n) =>
      api.redeem({ code: `GUESS-${n}`, ...newOrder() }, { headers: { 'idempotency-key': randomUUID() } }),
    );
    const settled = await Promise.allSettled(guesses);
    expect(settled.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(misses);
    await expectError(api.redeem({ code: 'ONE-MORE', ...newOrder() }), 'TOO_MANY_MISSES');
  });

  it('A replay of a redemption whose coupon has ended is no miss', async () => {
    const { id, code } = await addCouponOf(sql);
    const [api] = clientsOf(service, 'shop');
    const [order, options] = [newOrder(), { headers: { 'idempotency-key': randomUUID() } }];
    const first = await api.redeem({ code, ...order }, options);
    await sql('update coupons set is_invalidated = true where id = $1', [id]);
    for (let left = misses + 1; left > 0; left -= 1)
      expect(await api.redeem({ code, ...order }, options)).toEqual(first);
    // Nor is a refusal of what the order holds.
    for (let left = misses + 1; left > 0; left -= 1) {
      expect(await api.redeem({ code, ...order })).toMatchObject({ ...notFound, redemption: first.redemption });
    }
  });

  it('An empty code is refused as such, however many codes the caller has missed', async () => {
    const [api] = clientsOf(service, 'guesser');
    for (let n = 0; n < misses; n += 1) {
      expect(await api.redeem({ code: 'NONE', ...newOrder() })).toMatchObject(notFound);
    }
    await expectError(api.redeem({ code: 'NONE', ...newOrder() }), 'TOO_MANY_MISSES');
    expect((await api.redeem({ code: '', ...newOrder() })).message).toBe('Invalid coupon code');
  });
});

describe('A coupon-service with redemptions that starts again', () => {
  const service = runService('coupon');
  const { sql } = service;
  const [api] = clientsOf(service);

  it('A hold that has run out is marked when the service starts, and the metrics count it, and what calls did', async () => {
    const { code } = await addCouponOf(sql, { max_limit_for_user: 1 });
    const { redemption } = await api.redeem({ code, ...newOrder() });
    await api.redeem({ code, ...newOrder() });
    await api.redeem({ code: 'NONE', ...newOrder() });
    await api.confirm({ redemptionId: (await api.redeem({ code, ...newOrder(), userId: 2 })).redemption?.id });
    await api.release({
      redemptionId: (await api.redeem({ code, ...newOrder(), userId: 3, holdSeconds: 0 })).redemption?.id,
    });
    const { value } = await scrape(service.metricsPort);
    const outcomes = ['held', 'used', 'released', 'limit_reached', 'not_found'];
    expect(outcomes.map((outcome) => value(`redemptions_total{outcome="${outcome}"}`))).toEqual([2, 2, 1, 1, 1]);
    await letRunOut(sql, redemption?.id);
    await service.restart();
    const state = async () => (await sql('select state from redemptions where id = $1', [redemption?.id]))[0]?.state;
    await expect.poll(state).toBe('EXPIRED');
    const { value: valueThen } = await scrape(service.metricsPort);
    expect(valueThen('rows_swept_total{table="redemptions"}')).toBe(1);
    // The client connects again after a while.
    const { usage } = await eventually(() => api.getUsage({ couponIds: [redemption?.couponId ?? 0] }));
    expect(usage[0]).toMatchObject({ held: 0, used: 1, released: 1, expired: 1 });
    const listed = await api.listRedemptions({ states: [RedemptionState.EXPIRED] });
    expect(listed.redemptions.map(({ id }) => id)).toEqual([redemption?.id]);
  });
});

it('Keyed calls that redeem a coupon while it gets a limit do not deadlock', async () => {
  const database = await createDatabase();
  await database.sql(
    `do $$ begin execute format('alter database %I set track_counts = on', current_database()); end $$`,
  );
  await database.sql(fixture);
  const service = await startTestService('coupon', undefined, database);
  const connection = grpc.open(service);
  onTestFinished(async () => {
    connection.close();
    await service.stop();
    await database.close();
  });
  const api = createClient(RedemptionService, withToken(connection.transport, await signToken({ staffId: 1 })));
  const { id, code } = await addCouponOf(database.sql);
  const limiting = `update coupons set max_uses = 20 where id = ${id}`;
  const answers = await holding(database.url, limiting, async (lock) => {
    const redeeming = [1, 2, 3, 4].map((userId) =>
      api.redeem({ code, ...newOrder(), userId }, { headers: { 'idempotency-key': randomUUID() } }),
    );
    await lock.untilAwaited(4);
    await lock.release('commit');
    return Promise.all(redeeming);
  });
  expect(answers.map(({ valid }) => valid)).toEqual([true, true, true, true]);
  // Its connections tell what they have counted when they end.
  await service.stop();
  const others = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  await expect.poll(() => database.sql(others)).toEqual([]);
  expect(await database.sql('select deadlocks from pg_stat_database where datname = current_database()')).toEqual([
    { deadlocks: '0' },
  ]);
});
