import { createClient } from '@connectrpc/connect';
import { migrate } from '../../shared/db/migrate.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService, RedemptionState } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { signToken, withToken } from '../support/tokens.ts';
import { couponToCreate, numbers } from './calls-requests.ts';
import { mainOf, root } from './calls-stage.ts';
import { runSql } from './client.ts';
import { median, printMedianTimes } from './median.ts';
import { onPostgres, temporaryFolder } from './program.ts';
import { environmentOf, startServer } from './servers.ts';

// npm run bench:redemptions: what redemptions cost beside the creation of a coupon, a coupon that all callers redeem at once beside
// one for each of them, in turns in one run; and the lists and the usage of 1,000,000 redemptions. The service has core 0. Needs taskset.

const callers = 64;
const rounds = 15;
const callsPerRound = 1_280;

/** A million redemptions of 10,000 coupons, of which the first has a fifth; of 100,000 users, of which the first has as many. */
const data = `
  insert into staff_users (id, name) values (1, 'staff');
  insert into users (id, name, mobile) select id, 'user', id from generate_series(1, 100100) id;
  insert into coupons (id, coupon_code, discount_percent, is_apply_for_all, max_limit_for_user, created_by)
    select id, 'CODE' || id, 5, true, case when id <= ${callers} then 1 end, 1 from generate_series(1, 10000) id;
  insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, held_until, created_at)
    select case when id % 5 = 0 then 1 else 1 + id % 10000 end, case when id % 5 = 1 then 1 else 1 + id % 100000 end,
      'order-' || id, 100, 5, state, case when state in ('HELD', 'EXPIRED') then now() + interval '1 hour' end, now()
    from generate_series(1, 1000000) id, lateral (
      select (array['USED', 'USED', 'USED', 'RELEASED', 'EXPIRED', 'HELD', 'USED'])[1 + id % 7] as state
    ) as states;
  insert into coupon_usage select coupon_id, n, 0, 0, 0, 0, 0 from coupon_usage, generate_series(0, 15) n on conflict do nothing;
  select setval('coupons_id_seq', 10000);
  vacuum analyze`;

await onPostgres(async (postgres) => {
  const databaseUrl = await postgres.createDatabase('redemptions');
  await migrate(databaseUrl);
  await runSql(databaseUrl, ...data.split(/;\n/));
  const env = { PATH: process.env.PATH, ...environmentOf('coupon', databaseUrl) };
  const server = await startServer('redemptions', [mainOf(root, 'coupon')], env, temporaryFolder());
  const connection = createGrpcJsTransport(`127.0.0.1:${server.grpcPort}`);
  try {
    const transport = withToken(connection, await signToken({ staffId: 1 }));
    await measureWrites(createClient(CouponService, transport), createClient(RedemptionService, transport));
    await measureReads(createClient(RedemptionService, transport));
  } finally {
    connection.close();
    await server.stop();
  }
});

type Redemptions = ReturnType<typeof createClient<typeof RedemptionService>>;

async function measureWrites(coupons: ReturnType<typeof createClient<typeof CouponService>>, redemptions: Redemptions) {
  let orders = 0;
  const redeem = async (couponId: number, userId: number) => {
    const order = { userId, orderKey: `new-${++orders}`, orderAmount: 100 };
    const { valid, message, redemption } = await redemptions.redeem({ code: `CODE${couponId}`, ...order });
    if (!valid) throw new Error(message);
    return redemption?.id;
  };
  // Each caller is a user, who may use the coupon once.
  const redeemAndRelease = async (couponId: number, caller: number) => {
    const redemptionId = await redeem(couponId, 100_001 + caller);
    await redemptions.release({ redemptionId });
  };
  const sides: Record<string, (caller: number) => Promise<unknown>> = {
    Create: () => coupons.create(couponToCreate()),
    Redeem: () => redeem(100 + (orders % 9_000), 1 + (orders % 90_000)),
    'Redeem and Release, 64 coupons': (caller) => redeemAndRelease(1 + caller, caller),
    'Redeem and Release, one coupon': (caller) => redeemAndRelease(1, caller),
  };
  const rates = new Map(Object.keys(sides).map((name) => [name, [] as number[]]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, call] of Object.entries(sides)) {
      let left = callsPerRound;
      const begin = performance.now();
      const callOn = async (caller: number) => {
        for (; left > 0; left -= 1) await call(caller);
      };
      await Promise.all(Array.from({ length: callers }, (_caller, index) => callOn(index)));
      // The first round warms up.
      if (round > 0) rates.get(name)?.push((callsPerRound / (performance.now() - begin)) * 1_000);
    }
  }
  const ratio = (left: string, right: string) =>
    median((rates.get(left) ?? []).map((rate, index) => rate / (rates.get(right)?.[index] ?? Number.NaN))).toFixed(2);
  for (const [name, of] of rates) console.log(`${name}: ${median(of).toFixed(0)} a second`);
  console.log(`Redeem costs ${ratio('Create', 'Redeem')} of Create`);
  console.log(`one coupon: ${ratio('Redeem and Release, one coupon', 'Redeem and Release, 64 coupons')} of 64 coupons`);
}

async function measureReads(redemptions: Redemptions) {
  const { HELD, RELEASED, EXPIRED } = RedemptionState;
  const { nextPageToken: pageToken } = await redemptions.listRedemptions({ couponId: 1 });
  const reads: Record<string, () => Promise<unknown>> = {
    'all redemptions': () => redemptions.listRedemptions({}),
    'those of a coupon with 200': () => redemptions.listRedemptions({ couponId: 7_001 }),
    'those of a coupon with 200,000': () => redemptions.listRedemptions({ couponId: 1 }),
    'those of a coupon with 200,000, the next page': () => redemptions.listRedemptions({ couponId: 1, pageToken }),
    'those of a coupon with 200,000 that are held': () => redemptions.listRedemptions({ couponId: 1, states: [HELD] }),
    'those of a user with 200,000': () => redemptions.listRedemptions({ userId: 1 }),
    'those of a user with 10, of a coupon': () => redemptions.listRedemptions({ userId: 78, couponId: 1 }),
    'those of a user with 200,000, of a coupon with 200,000': () =>
      redemptions.listRedemptions({ userId: 1, couponId: 1 }),
    'those of an order': () => redemptions.listRedemptions({ orderKey: 'order-500000' }),
    'those that were released or ran out': () => redemptions.listRedemptions({ states: [RELEASED, EXPIRED] }),
    'the usage of 100 coupons': () => redemptions.getUsage({ couponIds: numbers(100) }),
    'the usage of 1,000 coupons': () => redemptions.getUsage({ couponIds: numbers(1_000) }),
  };
  await printMedianTimes(reads);
}
