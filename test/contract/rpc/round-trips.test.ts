import { randomUUID } from 'node:crypto';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotPlanService } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { isMutation } from '../../../shared/rpc/procedure.ts';
import { orderOf, procedures, recordsForCalls, snippetsOf, times } from '../../support/calls.ts';
import { failureOf } from '../../support/contract.ts';
import { createGrpcJsTransport } from '../../support/grpc-transport.ts';
import { viaPort } from '../../support/proxy.ts';
import { countRoundTrips, type RoundTrip, type RoundTripCounter } from '../../support/round-trips.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { signToken, withToken } from '../../support/tokens.ts';

/** The procedures that take another number of round trips than one. */
const counts: Readonly<Record<string, number>> = {
  // They answer from memory.
  'SlotStoreService.getOpenSlots': 0,
  'SlotStoreService.getProductSlots': 0,
  'SlotStoreService.watchStore': 0,
  'AuditService.watchEntries': 0,
  'SlotPlanService.copySlots': 4,
  // The sums, and the slots that close soon; the days, and the two lists of coupons. All at once.
  'SlotPlanService.getOverview': 2,
  'RedemptionService.getOverview': 3,
  // The slot of the booking is looked up, whose lock they wait for.
  'SlotBookingService.confirm': 2,
  'SlotBookingService.release': 2,
  // The code begins with graphemes of the user's name, which only the service can count.
  'CouponService.generateCancellationCoupon': 2,
  // The coupon is read and judged first.
  'RedemptionService.redeem': 2,
  'RedemptionService.check': 2,
  // The code is put into upper case as Validate does it, and the answer has names.
  'RedemptionService.claim': 3,
  // The batch, its coupons, and the end of the transaction.
  'CouponBatchService.createBatch': 3,
  'CouponBatchService.getBatch': 2,
};
/** They have transactions of their own, which the key of a call joins. */
const inTransactions = ['copySlots', 'createBatch', 'claim'];

type Calls<Api> = readonly [what: string, roundTrips: number, call: (api: Api, n: number) => Promise<unknown>][];
type Measured = readonly [
  what: string,
  roundTrips: number,
  call: (transport: Transport, n: number) => Promise<unknown>,
];

const slotCalls: Calls<Client<typeof SlotService>> = [
  ['createSlot without snippets', 1, (api) => api.createSlot({ ...times, productIds: [1], groupIds: [1] })],
  ['updateSlot with products', 1, (api) => api.updateSlot({ id: 1, ...times, productIds: { ids: [1] } })],
  [
    'updateSlot with products and snippets',
    1,
    (api, n) => api.updateSlot({ id: 1, ...times, productIds: { ids: [2] }, vendorSnippets: snippetsOf(n) }),
  ],
  ['getDeliverySequence that is cached', 0, (api) => api.getDeliverySequence({ id: '3' })],
];
const planCalls: Calls<Client<typeof SlotPlanService>> = [
  ['listSlots of a product and a group', 1, (api) => api.listSlots({ productId: 1, groupId: 1, limit: 1000 })],
];
const catalogCalls: Calls<Client<typeof CatalogService>> = [
  ['searchProducts without a search', 1, (api) => api.searchProducts({})],
  ['searchProducts at the last product', 1, (api) => api.searchProducts({ offset: 999_999 })],
  ['searchProducts beyond the last product', 0, (api) => api.searchProducts({ offset: 1_000_000 })],
  ['getProducts of none', 0, (api) => api.getProducts({})],
  ['getUsers of none', 0, (api) => api.getUsers({})],
  ['getOrders of none', 0, (api) => api.getOrders({})],
  ['searchSnippets by a blank search', 0, (api) => api.searchSnippets({ search: ' ' })],
];
const couponCalls: Calls<Client<typeof CouponService>> = [
  ['getAll by a search', 1, (api) => api.getAll({ search: 'name' })],
  ['getAll of a user', 1, (api) => api.getAll({ userId: 1, search: 'name' })],
  ['getReservedCoupons of a user', 1, (api) => api.getReservedCoupons({ userId: 1, search: 'name' })],
  ['getUsersMiniInfo at the last user', 1, (api) => api.getUsersMiniInfo({ offset: 999_999 })],
  ['getUsersMiniInfo beyond the last user', 0, (api) => api.getUsersMiniInfo({ offset: 1_000_000 })],
  ['createCoupon for a user', 1, (api) => api.createCoupon({ mobile: '9000000001' })],
  ['update of an amount', 1, (api) => api.update({ id: 1, updates: { coupon: { minOrder: 5 } } })],
];
const redemptionCalls: Calls<Client<typeof RedemptionService>> = [
  ['redeem that is refused', 2, (api, n) => api.redeem({ ...orderOf(n), code: 'FOR-NOBODY' })],
  ['redeem of a code that is not found', 1, (api, n) => api.redeem({ ...orderOf(n), code: 'X' })],
  ['listRedemptions of an order', 1, (api) => api.listRedemptions({ orderKey: 'order', couponId: 1, userId: 1 })],
];
const limitedCalls: Calls<Client<typeof CouponService>> = [
  ['validate of a code that is found', 1, (api) => api.validate({ code: 'FIRST', userId: 1, orderAmount: 1 })],
  ['validate of a code that is not found', 2, (api) => api.validate({ code: 'X', userId: 1, orderAmount: 1 })],
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
/** What the process asks the database for itself: whether it answers, by each connection, what its sweeps look for
 * and delete, which start with it and come again every 30 s, what callers have had stored, and new audit entries, which
 * all streams share. */
const ofTheProcess = [
  ...['ping', 'select', 'countStored', 'unvalidatedConstraints'],
  ...['endDelivery', 'entryHorizon', 'entriesAfter'],
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
  let n = 0;

  beforeAll(async () => {
    counter = await countRoundTrips(Number(new URL(inject('postgresUrl')).port), `${service}-service`);
    running = await startTestService(service, ({ database }) => ({
      database: { ...database, url: viaPort(database.url, counter.port) },
      storeRefreshDelayMs: 600_000,
      ...limit,
    }));
    await running.database.sql(recordsForCalls);
    connection = createGrpcJsTransport(`127.0.0.1:${running.grpcPort}`);
    transport = withToken(connection, await signToken({ staffId: 1 }));
    n = 0;
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
  const over =
    <Api>(open: (transport: Transport) => Api) =>
    (calls: Calls<Api>): Measured[] =>
      calls.map(([what, count, call]) => [what, count, (transport, n) => call(open(transport), n)]);
  const ofCoupons = over((transport) => createClient(CouponService, transport));
  const variants = {
    'slot-service': () => [
      ...over((transport) => createClient(SlotService, transport))(slotCalls),
      ...over((transport) => createClient(SlotPlanService, transport))(planCalls),
      ...over((transport) => createClient(CatalogService, transport))(catalogCalls),
    ],
    'coupon-service': () => [
      ...ofCoupons(couponCalls),
      ...over((transport) => createClient(RedemptionService, transport))(redemptionCalls),
    ],
    'coupon-service with VALIDATE_MISSES_PER_MINUTE': () => ofCoupons(limitedCalls),
  }[what]();

  const measured = 'validateMissesPerMinute' in limit ? [] : procedures[service];
  const measure = async (call: () => Promise<unknown>, count: number) => {
    // The first call prepares the statements and caches the staff user.
    await call();
    const before = ofCalls(counter.trips).length;
    await call();
    const trips = ofCalls(counter.trips).slice(before);
    expect(trips, JSON.stringify(trips)).toHaveLength(count);
  };

  it.each(
    measured.filter(
      ({ method }) => isMutation(method) && method.methodKind === 'unary' && !inTransactions.includes(method.localName),
    ),
  )('$name with an idempotency key takes one round trip more', ({ name, succeeds }) =>
    measure(() => succeeds(withKeys, ++n), (counts[name] ?? 1) + 1),
  );

  it('A mutation that is sent again takes four round trips', async () => {
    const key = randomUUID();
    const again = withKey(() => key);
    await repeated[service](again);
    await measure(() => repeated[service](again), 4);
  });

  it('A mutation with an idempotency key that a rule refuses takes four round trips', () =>
    measure(() => failureOf(refused[service](withKeys)), 4));

  it.each([...measured.map(({ name, succeeds }) => [name, counts[name] ?? 1, succeeds] as const), ...variants])(
    '%s takes %i round trips to the database',
    (_what, count, call) => measure(() => call(transport, ++n), count),
  );
});
