import { createClient } from '@connectrpc/connect';
import { migrate } from '../../shared/db/migrate.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService, RedemptionState } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { signToken, withToken } from '../support/tokens.ts';
import { couponToCreate, numbers } from './calls-requests.ts';
import { mainOf, root } from './calls-stage.ts';
import { runSql } from './client.ts';
import { durableSettings, startBenchPostgres } from './data-postgres.ts';
import { printMedianTimes } from './median.ts';
import { temporaryFolder } from './program.ts';
import { runRounds } from './rounds.ts';
import { environmentOf, startServer } from './servers.ts';

// npm run bench:redemptions: what redemptions cost beside the creation of a coupon, a coupon that all callers redeem at once beside
// one for each of them, without and with a limit of all users, in turns in one run and with fsync; and the lists and the usage of
// 1,000,000 redemptions. The service has core 0. Needs taskset.

/** A million redemptions of 10,000 coupons, of which the first has a fifth; of 100,000 users, of which the first has as many. */
const data = `
  insert into staff_users (id, name) values (1, 'staff');
  insert into users (id, name, mobile) select id, 'user', id from generate_series(1, 100100) id;
  insert into coupons (id, coupon_code, discount_percent, is_apply_for_all, max_limit_for_user, max_uses, created_by)
    select id, 'CODE' || id, 5, true, case when id <= 64 then 1 end, case when id between 100 and 164 then 1000000 end, 1
    from generate_series(1, 10000) id;
  insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, held_until, created_at)
    select case when id % 5 = 0 then 1 else 1 + id % 10000 end, case when id % 5 = 1 then 1 else 1 + id % 100000 end,
      'order-' || id, 100, 5, state, case when state in ('HELD', 'EXPIRED') then now() + interval '1 hour' end, now()
    from generate_series(1, 1000000) id, lateral (
      select (array['USED', 'USED', 'USED', 'RELEASED', 'EXPIRED', 'HELD', 'USED'])[1 + id % 7] as state
    ) as states;
  insert into coupon_usage select coupon_id, n, 0, 0, 0, 0, 0 from coupon_usage, generate_series(0, 15) n on conflict do nothing;
  select setval('coupons_id_seq', 10000);
  vacuum analyze`;

const postgres = await startBenchPostgres(durableSettings);
try {
  const databaseUrl = await postgres.createDatabase('redemptions');
  await migrate(databaseUrl);
  await runSql(databaseUrl, ...data.split(/;\n/));
  const env = { PATH: process.env.PATH, ...environmentOf('coupon', databaseUrl) };
  const server = await startServer('redemptions', [mainOf(root, 'coupon')], env, temporaryFolder());
  const connection = createGrpcJsTransport(`127.0.0.1:${server.grpcPort}`);
  try {
    const transport = withToken(connection, await signToken({ staffId: 1 }));
    const others = withToken(connection, await signToken({ staffId: 1, subject: 'another-caller' }));
    const redemptions = createClient(RedemptionService, transport);
    await measureWrites(createClient(CouponService, transport), redemptions, createClient(RedemptionService, others));
    await measureReads(redemptions);
  } finally {
    connection.close();
    await server.stop();
  }
} finally {
  await postgres.stop();
}

type Redemptions = ReturnType<typeof createClient<typeof RedemptionService>>;

type Coupons = ReturnType<typeof createClient<typeof CouponService>>;

async function measureWrites(coupons: Coupons, redemptions: Redemptions, others: Redemptions) {
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
  const redeemLimited = async (couponId: number) => void (await redeem(couponId, 1 + (orders % 90_000)));
  // An order of another caller's, of a coupon of its own.
  const beside = () => others.check({ code: 'CODE9999', userId: 1, orderAmount: 100, orderKey: 'another' });
  const { ratio, besideP95 } = await runRounds({
    Create: { call: async () => void (await coupons.create(couponToCreate())) },
    Redeem: { call: async () => void (await redeem(300 + (orders % 9_000), 1 + (orders % 90_000))) },
    'Redeem and Release, 64 coupons': { call: (_round, caller) => redeemAndRelease(1 + caller, caller) },
    'Redeem and Release, one coupon': { call: (_round, caller) => redeemAndRelease(1, caller) },
    'Redeem, 64 coupons with max_uses': { call: (_round, caller) => redeemLimited(101 + caller), beside },
    'Redeem, one coupon with max_uses': { call: () => redeemLimited(100), beside },
  });
  console.log(`Redeem costs ${ratio('Create', 'Redeem')} of Create`);
  console.log(`one coupon: ${ratio('Redeem and Release, one coupon', 'Redeem and Release, 64 coupons')} of 64 coupons`);
  for (const many of ['Redeem, 64 coupons with max_uses', 'Redeem'])
    console.log(`one coupon with max_uses: ${ratio('Redeem, one coupon with max_uses', many)} of ${many}`);
  for (const name of ['Redeem, 64 coupons with max_uses', 'Redeem, one coupon with max_uses'])
    console.log(`${name}: another caller's Check p95 ${besideP95(name)} ms`);
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
