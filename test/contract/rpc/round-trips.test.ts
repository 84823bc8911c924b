import { randomUUID } from 'node:crypto';
import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { createClient, type Transport } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { CouponBatchService } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotPlanService } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { failureOf } from '../../support/contract.ts';
import { createGrpcJsTransport } from '../../support/grpc-transport.ts';
import { viaPort } from '../../support/proxy.ts';
import { countRoundTrips, type RoundTrip, type RoundTripCounter } from '../../support/round-trips.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { signToken, withToken } from '../../support/tokens.ts';

const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };
const sequence = fromJson(ValueSchema, { 1: [2, 3] });
let names = 0;
const name = () => `name-${++names}`;
const snippets = () => [name(), name()].map((snippet) => ({ name: snippet, productIds: [1, 2] }));
const terms = () => ({ couponCode: name(), flatDiscount: 5, applicableUsers: { ids: [1] }, productIds: { ids: [2] } });
const products = { applicableProducts: { ids: [3] } };

type Calls<Api> = readonly [procedure: string, roundTrips: number, call: (api: Api) => Promise<unknown>][];

const slotCalls: Calls<ReturnType<typeof createClient<typeof SlotService>>> = [
  ['getAll', 1, (api) => api.getAll({})],
  ['getSlots', 1, (api) => api.getSlots({})],
  ['getSlotById', 1, (api) => api.getSlotById({ id: 1 })],
  ['getSlotsProductIds', 1, (api) => api.getSlotsProductIds({ slotIds: [1, 2] })],
  ['createSlot', 1, (api) => api.createSlot({ ...times, productIds: [1], groupIds: [1] })],
  ['createSlot with snippets', 1, (api) => api.createSlot({ ...times, vendorSnippets: snippets() })],
  ['updateSlot', 1, (api) => api.updateSlot({ id: 1, ...times })],
  ['updateSlot with products', 1, (api) => api.updateSlot({ id: 1, ...times, productIds: { ids: [1] } })],
  [
    'updateSlot with products and snippets',
    1,
    (api) => api.updateSlot({ id: 1, ...times, productIds: { ids: [2] }, vendorSnippets: snippets() }),
  ],
  ['updateSlotProducts', 1, (api) => api.updateSlotProducts({ slotId: 1, productIds: [1, 2] })],
  ['updateSlotCapacity', 1, (api) => api.updateSlotCapacity({ slotId: 1, isCapacityFull: true })],
  ['deleteSlot', 1, (api) => api.deleteSlot({ id: 1 })],
  ['updateDeliverySequence', 1, (api) => api.updateDeliverySequence({ id: 1, deliverySequence: sequence })],
  ['getDeliverySequence that is not cached', 1, (api) => api.getDeliverySequence({ id: '2' })],
  ['getDeliverySequence that is cached', 0, (api) => api.getDeliverySequence({ id: '1' })],
];
const catalogCalls: Calls<ReturnType<typeof createClient<typeof CatalogService>>> = [
  ['searchProducts', 1, (api) => api.searchProducts({})],
  ['searchProducts by a search', 1, (api) => api.searchProducts({ search: '1' })],
  ['searchProducts at the last product', 1, (api) => api.searchProducts({ offset: 999_999 })],
  ['searchProducts beyond the last product', 0, (api) => api.searchProducts({ offset: 1_000_000 })],
  ['getProducts', 1, (api) => api.getProducts({ productIds: [1, 2] })],
  ['getProducts of none', 0, (api) => api.getProducts({})],
  ['listProductGroups', 1, (api) => api.listProductGroups({})],
  ['getUsers', 1, (api) => api.getUsers({ userIds: [1, 2] })],
  ['getUsers of none', 0, (api) => api.getUsers({})],
  ['listStaff', 1, (api) => api.listStaff({})],
  ['getOrders', 1, (api) => api.getOrders({ orderIds: [1, 2] })],
  ['getOrders of none', 0, (api) => api.getOrders({})],
  ['searchSnippets', 1, (api) => api.searchSnippets({ search: 'a' })],
  ['searchSnippets by a blank search', 0, (api) => api.searchSnippets({ search: ' ' })],
];
const planCalls: Calls<ReturnType<typeof createClient<typeof SlotPlanService>>> = [
  ['listSlots', 1, (api) => api.listSlots({})],
  ['copySlots', 4, (api) => api.copySlots({ slotIds: [1], shiftDays: 1 + ++names })],
  ['updateSlots', 1, (api) => api.updateSlots({ slots: [{ id: 1 }], change: { case: 'isCapacityFull', value: true } })],
  ['listSlots of a product and a group', 1, (api) => api.listSlots({ productId: 1, groupId: 1, limit: 1000 })],
];
const couponCalls: Calls<ReturnType<typeof createClient<typeof CouponService>>> = [
  ['getAll', 1, (api) => api.getAll({})],
  ['getAll by a search', 1, (api) => api.getAll({ search: 'name' })],
  ['getAll of a user', 1, (api) => api.getAll({ userId: 1, search: 'name' })],
  ['getById', 1, (api) => api.getById({ id: 1 })],
  ['validate', 1, (api) => api.validate({ code: 'X', userId: 1, orderAmount: 1 })],
  ['getReservedCoupons', 1, (api) => api.getReservedCoupons({})],
  ['getReservedCoupons of a user', 1, (api) => api.getReservedCoupons({ userId: 1, search: 'name' })],
  ['getUsersMiniInfo', 1, (api) => api.getUsersMiniInfo({})],
  ['getUsersMiniInfo at the last user', 1, (api) => api.getUsersMiniInfo({ offset: 999_999 })],
  ['getUsersMiniInfo beyond the last user', 0, (api) => api.getUsersMiniInfo({ offset: 1_000_000 })],
  ['create', 1, (api) => api.create({ coupon: { ...terms(), ...products } })],
  ['createReservedCoupon', 1, (api) => api.createReservedCoupon({ coupon: { ...terms(), ...products } })],
  ['createCoupon for a user', 1, (api) => api.createCoupon({ mobile: '9000000001' })],
  ['createCoupon for a new user', 1, (api) => api.createCoupon({ mobile: String(7_000_000_000 + ++names) })],
  ['update', 1, (api) => api.update({ id: 1, updates: { coupon: { minOrder: 5 } } })],
  [
    'update of the code and all links',
    1,
    (api) => api.update({ id: 1, updates: { coupon: { ...terms(), ...products, isUserBased: true } } }),
  ],
  ['delete', 1, (api) => api.delete({ id: 1 })],
  // The code begins with graphemes of the user's name, which only the service can count.
  ['generateCancellationCoupon', 2, (api) => api.generateCancellationCoupon({ orderId: ++orders })],
];
const redemptionCalls: Calls<ReturnType<typeof createClient<typeof RedemptionService>>> = [
  // The coupon is read and judged first.
  ['redeem', 2, (api) => api.redeem({ ...order(), code: 'FOR-ALL' })],
  ['redeem that is refused', 2, (api) => api.redeem({ ...order(), code: 'FOR-NOBODY' })],
  ['redeem of a code that is not found', 1, (api) => api.redeem({ ...order(), code: 'X' })],
  ['confirm', 1, (api) => api.confirm({ redemptionId: ++holds })],
  ['release', 1, (api) => api.release({ redemptionId: ++holds })],
  // The code is put into upper case as Validate does it, and the answer has names.
  ['claim', 3, (api) => api.claim({ secretCode: `SECRET-${++orders}`, userId: 1 })],
  ['listRedemptions', 1, (api) => api.listRedemptions({})],
  ['listRedemptions of an order', 1, (api) => api.listRedemptions({ orderKey: 'order', couponId: 1, userId: 1 })],
  ['getUsage', 1, (api) => api.getUsage({ couponIds: [1, 2, 3] })],
];
let holds = 0;
const order = () => ({ userId: 1, orderKey: `order-${++names}`, orderAmount: 10 });
const batchCalls: Calls<ReturnType<typeof createClient<typeof CouponBatchService>>> = [
  // The batch, its coupons, and the end of the transaction.
  ['createBatch', 3, (api) => api.createBatch({ count: 100, coupon: { flatDiscount: 1, ...products } })],
  ['getBatch', 2, (api) => api.getBatch({ id: 1 })],
  ['listBatches', 1, (api) => api.listBatches({})],
  ['invalidateBatch', 1, (api) => api.invalidateBatch({ id: 1 })],
];
/** A call that is sent again, and one that a rule refuses. */
const repeated = {
  slot: (transport: Transport) =>
    createClient(SlotService, transport).updateSlotProducts({ slotId: 1, productIds: [1] }),
  coupon: (transport: Transport) =>
    createClient(CouponService, transport).update({ id: 1, updates: { coupon: { minOrder: 5 } } }),
} as const;
const refused = {
  slot: (transport: Transport) => createClient(SlotService, transport).deleteSlot({ id: 999_999 }),
  coupon: (transport: Transport) => createClient(CouponService, transport).delete({ id: 999_999 }),
} as const;
const limitedCalls: typeof couponCalls = [
  ['validate of a code that is found', 1, (api) => api.validate({ code: 'FIRST', userId: 1, orderAmount: 1 })],
  ['validate of a code that is not found', 2, (api) => api.validate({ code: 'X', userId: 1, orderAmount: 1 })],
];
let orders = 0;

/** What the process asks the database for itself: whether it answers, by each connection, what its sweeps look for
 * and delete, which start with it and come again every 30 s, and what callers have had stored. */
const ofTheProcess = [
  ...['ping', 'select', 'countStored', 'unvalidatedConstraints'],
  ...['overdueRequests', 'sweepKeys', 'sweepEntries', 'sweepStoredBytes', 'sweepHolds'],
];

/** Leaves out the round trips of the derived stores and of the process itself, which run beside the calls. */
function ofCalls(trips: readonly RoundTrip[]): RoundTrip[] {
  const refreshing = new Set<number>();
  return trips.filter(({ connection, statements }) => {
    if (statements.includes('beginRepeatableRead')) refreshing.add(connection);
    const isRefresh = refreshing.has(connection);
    if (statements.includes('commit')) refreshing.delete(connection);
    // A statement of a call may go along with one of the process.
    return !isRefresh && !statements.every((name) => ofTheProcess.includes(name));
  });
}

describe.each([
  { what: 'slot-service', service: 'slot' },
  { what: 'coupon-service', service: 'coupon' },
  { what: 'coupon-service with VALIDATE_MISSES_PER_MINUTE', service: 'coupon', validateMissesPerMinute: 1_000 },
] as const)('Round trips of $what', ({ what, service, ...limit }) => {
  let counter: RoundTripCounter;
  let running: TestService;
  let connection: ReturnType<typeof createGrpcJsTransport>;
  let transport: Transport;

  beforeAll(async () => {
    counter = await countRoundTrips(Number(new URL(inject('postgresUrl')).port), `${service}-service`);
    running = await startTestService(service, ({ database }) => ({
      database: { ...database, url: viaPort(database.url, counter.port) },
      storeRefreshDelayMs: 600_000,
      ...limit,
    }));
    await running.database.sql(fixture);
    connection = createGrpcJsTransport(`127.0.0.1:${running.grpcPort}`);
    transport = withToken(connection, await signToken({ staffId: 1 }));
    orders = 0;
  });

  afterAll(async () => {
    connection.close();
    await running.stop();
    await counter.close();
  });

  const withKey = (key: () => string): Transport => ({
    unary: (method, signal, timeoutMs, header, input, values) => {
      const headers = new Headers(header);
      headers.set('idempotency-key', key());
      return transport.unary(method, signal, timeoutMs, headers, input, values);
    },
    stream: (...args) => transport.stream(...args),
  });
  /** The same calls with a new idempotency key each: the second round trip stores the answer and commits. */
  const withKeys = withKey(randomUUID);
  const ofSlots = (calls: typeof slotCalls) =>
    calls.map(([what, count, call]) => ({
      what,
      count,
      run: () => call(createClient(SlotService, transport)),
      runWithKey: () => call(createClient(SlotService, withKeys)),
    }));
  const ofCatalog = (calls: typeof catalogCalls) =>
    calls.map(([what, count, call]) => ({
      what,
      count,
      run: () => call(createClient(CatalogService, transport)),
      runWithKey: () => call(createClient(CatalogService, withKeys)),
    }));
  const ofPlan = (calls: typeof planCalls) =>
    calls.map(([what, count, call]) => ({
      what,
      count,
      run: () => call(createClient(SlotPlanService, transport)),
      runWithKey: () => call(createClient(SlotPlanService, withKeys)),
    }));
  const ofCoupons = (calls: typeof couponCalls) =>
    calls.map(([what, count, call]) => ({
      what,
      count,
      run: () => call(createClient(CouponService, transport)),
      runWithKey: () => call(createClient(CouponService, withKeys)),
    }));
  const ofRedemptions = (calls: typeof redemptionCalls) =>
    calls.map(([what, count, call]) => ({
      what,
      count,
      run: () => call(createClient(RedemptionService, transport)),
      runWithKey: () => call(createClient(RedemptionService, withKeys)),
    }));
  const ofBatches = (calls: typeof batchCalls) =>
    calls.map(([what, count, call]) => ({
      what,
      count,
      run: () => call(createClient(CouponBatchService, transport)),
      runWithKey: () => call(createClient(CouponBatchService, withKeys)),
    }));
  const calls = {
    'slot-service': () => [...ofSlots(slotCalls), ...ofPlan(planCalls), ...ofCatalog(catalogCalls)],
    'coupon-service': () => [...ofCoupons(couponCalls), ...ofRedemptions(redemptionCalls), ...ofBatches(batchCalls)],
    'coupon-service with VALIDATE_MISSES_PER_MINUTE': () => ofCoupons(limitedCalls),
  }[what]();

  // CopySlots, CreateBatch and Claim have transactions of their own, which the key joins.
  it.each(
    calls.filter(
      ({ what }) => !/^(copySlots|createBatch|claim|get|list|search|validate|redeem that|redeem of)/.test(what),
    ),
  )('$what with an idempotency key takes one round trip more', async ({ count, runWithKey }) => {
    await runWithKey();
    const before = ofCalls(counter.trips).length;
    await runWithKey();
    const trips = ofCalls(counter.trips).slice(before);
    expect(trips, JSON.stringify(trips)).toHaveLength(count + 1);
  });

  it('A mutation that is sent again takes four round trips', async () => {
    const key = randomUUID();
    const again = withKey(() => key);
    await repeated[service](again);
    await repeated[service](again);
    const before = ofCalls(counter.trips).length;
    await repeated[service](again);
    const trips = ofCalls(counter.trips).slice(before);
    expect(trips, JSON.stringify(trips)).toHaveLength(4);
  });

  it('A mutation with an idempotency key that a rule refuses takes four round trips', async () => {
    await failureOf(refused[service](withKeys));
    const before = ofCalls(counter.trips).length;
    await failureOf(refused[service](withKeys));
    const trips = ofCalls(counter.trips).slice(before);
    expect(trips, JSON.stringify(trips)).toHaveLength(4);
  });

  it.each(calls)('$what takes $count round trips to the database', async ({ count, run }) => {
    // The first call prepares the statements and caches the staff user.
    await run();
    const before = ofCalls(counter.trips).length;
    await run();
    const trips = ofCalls(counter.trips).slice(before);
    expect(trips, JSON.stringify(trips)).toHaveLength(count);
  });
});

const fixture = `
  insert into slots (delivery_time, freeze_time) select now(), now() from generate_series(1, 2);
  update slots set delivery_sequence = '[]' where id = 2;
  insert into coupons (coupon_code, flat_discount, created_by, is_apply_for_all)
    values ('FIRST', 1, 1, false), ('FOR-ALL', 1, 1, true), ('FOR-NOBODY', 1, 1, false);
  insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by)
    select 'SECRET-' || n, 'OWN-' || n, 1, 1 from generate_series(1, 10) n;
  insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, held_until, created_at)
    select 1, 1, 'held', 1, 1, 'HELD', now() + interval '1 hour', now() from generate_series(1, 10) n;
  insert into coupon_batches (name, count, created_by) values ('', 1, 1);
  insert into orders (user_id, total_amount) select 1, 10 from generate_series(1, 10);
  insert into order_statuses (order_id) select id from orders`;
