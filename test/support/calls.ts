import { type DescMethod, type DescService, fromJson, type Message } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { CatalogService } from '../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { ImportService } from '../../shared/gen/catalog/v1/import_service_pb.ts';
import { CouponBatchService } from '../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';

type Callers<Api> = Readonly<Record<'staff' | 'guest' | 'nobody', Api>>;

interface CallsOfProcedure<Api> {
  /** As staff user 1, on `recordsForCalls`. With another `n` it succeeds again. */
  succeeds(api: Api, n: number): Promise<Message>;
  /** Fails by a rule, or for a caller that may not call. */
  refused(callers: Callers<Api>): Promise<unknown>;
  /** As staff user 1: fails by a declared bound. Absent where the request has no bound. */
  invalid?(api: Api): Promise<unknown>;
}

/** Names every procedure of a service. */
type CallsOf<Service extends DescService> = {
  readonly [Procedure in keyof Client<Service>]: CallsOfProcedure<Client<Service>>;
};

export const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };
export const snippetsOf = (n: number) =>
  [`snippet-${n}`, `other-${n}`].map((name) => ({ name, productIds: [1, 2], validTill: '2030-05-02T00:00:00Z' }));
export const termsOf = (n: number) => ({
  ...{ couponCode: `CODE-${n}`, flatDiscount: 5, minOrder: 0.1, validTill: '2030-05-02T00:00:00Z' },
  ...{ applicableUsers: { ids: [1] }, productIds: { ids: [2] }, applicableProducts: { ids: [3] } },
});
export const orderOf = (n: number) => ({ userId: 1, orderKey: `order-${n}`, orderAmount: 10.5 });
const sequence = fromJson(ValueSchema, { 1: [2, 3], name: [null, true, 'é'] });

/** The first message of a stream. */
async function firstOf<Answer>(stream: AsyncIterable<Answer>): Promise<Answer> {
  for await (const answer of stream) return answer;
  throw new Error('the stream has no message');
}

const slotCalls: CallsOf<typeof SlotService> = {
  getAll: { succeeds: (api) => api.getAll({}), refused: ({ guest }) => guest.getAll({}) },
  getSlots: { succeeds: (api) => api.getSlots({}), refused: ({ guest }) => guest.getSlots({}) },
  getSlotById: {
    succeeds: (api) => api.getSlotById({ id: 1 }),
    refused: ({ staff }) => staff.getSlotById({ id: 999 }),
    invalid: (api) => api.getSlotById({}),
  },
  getSlotsProductIds: {
    succeeds: (api) => api.getSlotsProductIds({ slotIds: [1, 2] }),
    refused: ({ guest }) => guest.getSlotsProductIds({ slotIds: [1] }),
  },
  createSlot: {
    succeeds: (api, n) => api.createSlot({ ...times, productIds: [1], groupIds: [1], vendorSnippets: snippetsOf(n) }),
    refused: ({ staff }) => staff.createSlot({ freezeTime: times.freezeTime }),
    invalid: (api) => api.createSlot({ ...times, vendorSnippets: [{ name: '', productIds: [0] }] }),
  },
  updateSlot: {
    succeeds: (api) => api.updateSlot({ id: 1, ...times, groupIds: [1, 99] }),
    refused: ({ staff }) => staff.updateSlot({ id: 999, ...times }),
    invalid: (api) => api.updateSlot(times),
  },
  updateSlotProducts: {
    succeeds: (api) => api.updateSlotProducts({ slotId: 1, productIds: [1, 2] }),
    refused: ({ guest }) => guest.updateSlotProducts({ slotId: 1, productIds: [1] }),
    invalid: (api) => api.updateSlotProducts({ productIds: [1] }),
  },
  updateSlotCapacity: {
    succeeds: (api) => api.updateSlotCapacity({ slotId: 1, isCapacityFull: true }),
    refused: ({ staff }) => staff.updateSlotCapacity({ slotId: 999, isCapacityFull: true }),
    invalid: (api) => api.updateSlotCapacity({}),
  },
  deleteSlot: {
    succeeds: (api) => api.deleteSlot({ id: 1 }),
    refused: ({ staff }) => staff.deleteSlot({ id: 999 }),
    invalid: (api) => api.deleteSlot({}),
  },
  updateDeliverySequence: {
    succeeds: (api) => api.updateDeliverySequence({ id: 1, deliverySequence: sequence }),
    refused: ({ staff }) => staff.updateDeliverySequence({ id: 999, deliverySequence: sequence }),
    invalid: (api) => api.updateDeliverySequence({}),
  },
  getDeliverySequence: {
    succeeds: (api) => api.getDeliverySequence({ id: '2' }),
    refused: ({ guest }) => guest.getDeliverySequence({ id: '999' }),
    invalid: (api) => api.getDeliverySequence({ id: 'x' }),
  },
};

const storeCalls: CallsOf<typeof SlotStoreService> = {
  getOpenSlots: { succeeds: (api) => api.getOpenSlots({}), refused: ({ nobody }) => nobody.getOpenSlots({}) },
  getProductSlots: {
    succeeds: (api) => api.getProductSlots({ productIds: [1, 777] }),
    refused: ({ nobody }) => nobody.getProductSlots({}),
    invalid: (api) => api.getProductSlots({ productIds: Array.from({ length: 1_001 }, (_id, at) => at) }),
  },
  getStoreStatus: { succeeds: (api) => api.getStoreStatus({}), refused: ({ nobody }) => nobody.getStoreStatus({}) },
  watchStore: {
    succeeds: (api) => firstOf(api.watchStore({})),
    refused: ({ nobody }) => firstOf(nobody.watchStore({})),
    invalid: (api) => firstOf(api.watchStore({}, { headers: { 'store-request-id': 'x' } })),
  },
};

const week = { from: '2030-01-07', until: '2030-01-14' };

const planCalls: CallsOf<typeof SlotPlanService> = {
  listSlots: {
    succeeds: (api) => api.listSlots({}),
    refused: ({ staff }) => staff.listSlots({ deliveryFrom: 'x' }),
    invalid: (api) => api.listSlots({ limit: -1 }),
  },
  copySlots: {
    succeeds: (api, n) => api.copySlots({ slotIds: [1], shiftDays: 1 + n }),
    refused: ({ staff }) => staff.copySlots({ slotIds: [998, 999], shiftDays: 1 }),
    invalid: (api) => api.copySlots({ slotIds: [1], shiftDays: -1 }),
  },
  updateSlots: {
    succeeds: (api) => api.updateSlots({ slots: [{ id: 1 }], change: { case: 'isCapacityFull', value: true } }),
    refused: ({ staff }) => staff.updateSlots({ slots: [{ id: 999 }], change: { case: 'isActive', value: true } }),
    invalid: (api) => api.updateSlots({}),
  },
  getOverview: {
    succeeds: (api) => api.getOverview(week),
    refused: ({ guest }) => guest.getOverview(week),
    invalid: (api) => api.getOverview({ ...week, from: 'x'.repeat(2_001) }),
  },
};

const catalogCalls: CallsOf<typeof CatalogService> = {
  searchProducts: {
    succeeds: (api) => api.searchProducts({ search: '1' }),
    refused: ({ guest }) => guest.searchProducts({}),
    invalid: (api) => api.searchProducts({ offset: -1 }),
  },
  getProducts: {
    succeeds: (api) => api.getProducts({ productIds: [1, 2] }),
    refused: ({ guest }) => guest.getProducts({}),
  },
  listProductGroups: {
    succeeds: (api) => api.listProductGroups({}),
    refused: ({ guest }) => guest.listProductGroups({}),
  },
  getUsers: { succeeds: (api) => api.getUsers({ userIds: [1, 3] }), refused: ({ guest }) => guest.getUsers({}) },
  listStaff: { succeeds: (api) => api.listStaff({}), refused: ({ guest }) => guest.listStaff({}) },
  getOrders: { succeeds: (api) => api.getOrders({ orderIds: [1, 2] }), refused: ({ guest }) => guest.getOrders({}) },
  searchSnippets: {
    succeeds: (api) => api.searchSnippets({ search: 's' }),
    refused: ({ guest }) => guest.searchSnippets({ search: 's' }),
    invalid: (api) => api.searchSnippets({ search: 's', limit: -1 }),
  },
  resolve: {
    succeeds: (api) => api.resolve({ userExternalIds: ['u-1', 'none'], orderExternalIds: ['o-1'] }),
    refused: ({ nobody }) => nobody.resolve({}),
    invalid: (api) => api.resolve({ userExternalIds: new Array(1_001).fill('x') }),
  },
};

const importCalls: CallsOf<typeof ImportService> = {
  importUsers: {
    succeeds: (api) => api.importUsers({ users: [{ externalId: 'u-1', name: 'Asha', mobile: '9000000001' }] }),
    refused: ({ staff }) =>
      staff.importUsers({
        users: [
          { externalId: 'u-1', mobile: '1' },
          { externalId: 'u-2', mobile: '1' },
        ],
      }),
    invalid: (api) => api.importUsers({ users: [{ externalId: '', mobile: '9.19E+11' }] }),
  },
  importProducts: {
    succeeds: (api) => api.importProducts({ products: [{ externalId: 'p-1', name: 'Milk', images: ['1', '2'] }] }),
    refused: ({ staff }) => staff.importProducts({ products: [{ externalId: 'p-2' }, { externalId: 'p-2' }] }),
    invalid: (api) => api.importProducts({}),
  },
  importProductGroups: {
    succeeds: (api) => api.importProductGroups({ groups: [{ externalId: 'g-1', name: 'Dairy' }] }),
    refused: ({ guest }) => guest.importProductGroups({ groups: [{ externalId: 'g-2' }] }),
    invalid: (api) => api.importProductGroups({}),
  },
  importOrders: {
    succeeds: (api) => api.importOrders({ orders: [{ externalId: 'o-1', totalAmount: '10.50' }] }),
    refused: ({ staff }) =>
      staff.importOrders({ orders: [{ externalId: 'o-2', userExternalId: 'none', totalAmount: '1' }] }),
    invalid: (api) => api.importOrders({ orders: [{ externalId: 'o-2', totalAmount: '-1' }] }),
  },
};

const couponCalls: CallsOf<typeof CouponService> = {
  getAll: {
    succeeds: (api) => api.getAll({ limit: 2 }),
    refused: ({ staff }) => staff.getAll({ cursor: 1, pageToken: 'x' }),
    invalid: (api) => api.getAll({ limit: -1 }),
  },
  getById: {
    succeeds: (api) => api.getById({ id: 1 }),
    refused: ({ staff }) => staff.getById({ id: 999 }),
    invalid: (api) => api.getById({}),
  },
  validate: {
    succeeds: (api) => api.validate({ code: 'FOR-ALL', userId: 1, orderAmount: 1.5 }),
    refused: ({ nobody }) => nobody.validate({ code: 'X' }),
    invalid: (api) => api.validate({ code: 'X', orderAmount: Number.POSITIVE_INFINITY }),
  },
  getReservedCoupons: {
    succeeds: (api) => api.getReservedCoupons({ limit: 2 }),
    refused: ({ staff }) => staff.getReservedCoupons({ cursor: 1, pageToken: 'x' }),
    invalid: (api) => api.getReservedCoupons({ limit: -1 }),
  },
  getUsersMiniInfo: {
    succeeds: (api) => api.getUsersMiniInfo({}),
    refused: ({ nobody }) => nobody.getUsersMiniInfo({}),
    invalid: (api) => api.getUsersMiniInfo({ limit: 51, offset: -1 }),
  },
  create: {
    succeeds: (api, n) => api.create({ coupon: termsOf(n) }),
    refused: ({ staff }) => staff.create({ coupon: { flatDiscount: 1, applicableUsers: { ids: [999] } } }),
    invalid: (api) => api.create({ coupon: { flatDiscount: -1, maxValue: -1 } }),
  },
  createReservedCoupon: {
    succeeds: (api, n) => api.createReservedCoupon({ coupon: termsOf(n) }),
    refused: ({ guest }) => guest.createReservedCoupon({ coupon: termsOf(0) }),
    invalid: (api) => api.createReservedCoupon({ coupon: { flatDiscount: -1 } }),
  },
  createCoupon: {
    succeeds: (api, n) => api.createCoupon({ mobile: String(7_000_000_000 + n) }),
    refused: ({ staff }) => staff.createCoupon({ mobile: '1' }),
    invalid: (api) => api.createCoupon({}),
  },
  update: {
    succeeds: (api, n) => api.update({ id: 1, updates: { coupon: { ...termsOf(n), isUserBased: true } } }),
    refused: ({ staff }) => staff.update({ id: 999, updates: {} }),
    invalid: (api) => api.update({ updates: { coupon: { minOrder: -1 } } }),
  },
  delete: {
    succeeds: (api) => api.delete({ id: 1 }),
    refused: ({ staff }) => staff.delete({ id: 999 }),
    invalid: (api) => api.delete({}),
  },
  generateCancellationCoupon: {
    succeeds: (api, n) => api.generateCancellationCoupon({ orderId: n }),
    refused: ({ staff }) => staff.generateCancellationCoupon({ orderId: 999 }),
    invalid: (api) => api.generateCancellationCoupon({}),
  },
};

const bookingCalls: CallsOf<typeof SlotBookingService> = {
  book: {
    succeeds: (api, n) => api.book({ slotId: 3, orderKey: `order-${n}`, userId: 1 }),
    refused: ({ staff }) => staff.book({ slotId: 999, orderKey: 'order' }),
    invalid: (api) => api.book({ orderKey: '', units: -1 }),
  },
  confirm: {
    succeeds: (api, n) => api.confirm({ bookingId: n }),
    refused: ({ staff }) => staff.confirm({ bookingId: 999 }),
    invalid: (api) => api.confirm({}),
  },
  release: {
    succeeds: (api, n) => api.release({ bookingId: n, reason: 'cancelled' }),
    refused: ({ staff }) => staff.release({ bookingId: 999 }),
    invalid: (api) => api.release({}),
  },
  move: {
    succeeds: (api, n) => api.move({ bookingId: 200 + n, slotId: 3 }),
    refused: ({ staff }) => staff.move({ bookingId: 999, slotId: 3 }),
    invalid: (api) => api.move({ slotId: 3 }),
  },
  getAvailability: {
    succeeds: (api) => api.getAvailability({ slotIds: [3, 1, 999] }),
    refused: ({ nobody }) => nobody.getAvailability({ slotIds: [1] }),
    invalid: (api) => api.getAvailability({}),
  },
  listBookings: {
    succeeds: (api) => api.listBookings({ limit: 3 }),
    refused: ({ guest }) => guest.listBookings({}),
    invalid: (api) => api.listBookings({ limit: -1 }),
  },
};

const redemptionCalls: CallsOf<typeof RedemptionService> = {
  redeem: {
    succeeds: (api, n) => api.redeem({ ...orderOf(n), code: 'FOR-ALL' }),
    refused: ({ staff }) => staff.redeem({ ...orderOf(0), userId: 999, code: 'FOR-ALL' }),
    invalid: (api) => api.redeem({ orderKey: '', orderAmount: -1 }),
  },
  check: {
    succeeds: (api) => api.check({ code: 'FOR-ALL', userId: 1, orderAmount: 200 }),
    refused: ({ staff }) => staff.check({ code: 'FOR-ALL', userId: 999 }),
    invalid: (api) => api.check({ orderKey: ' ', orderAmount: -1 }),
  },
  confirm: {
    succeeds: (api, n) => api.confirm({ redemptionId: n }),
    refused: ({ staff }) => staff.confirm({ redemptionId: 999 }),
    invalid: (api) => api.confirm({}),
  },
  release: {
    succeeds: (api, n) => api.release({ redemptionId: n, reason: 'cancelled' }),
    refused: ({ staff }) => staff.release({ redemptionId: 999 }),
    invalid: (api) => api.release({}),
  },
  claim: {
    succeeds: (api, n) => api.claim({ secretCode: `CALL-SECRET-${n}`, userId: 1 }),
    refused: ({ staff }) => staff.claim({ secretCode: 'none', userId: 1 }),
    invalid: (api) => api.claim({ secretCode: 'none' }),
  },
  listRedemptions: {
    succeeds: (api) => api.listRedemptions({ limit: 3 }),
    refused: ({ guest }) => guest.listRedemptions({}),
    invalid: (api) => api.listRedemptions({ limit: -1 }),
  },
  getUsage: {
    succeeds: (api) => api.getUsage({ couponIds: [1, 2, 3] }),
    refused: ({ guest }) => guest.getUsage({ couponIds: [1] }),
    invalid: (api) => api.getUsage({}),
  },
  getOverview: {
    succeeds: (api) => api.getOverview(week),
    refused: ({ guest }) => guest.getOverview(week),
    invalid: (api) => api.getOverview({ ...week, from: 'x'.repeat(2_001) }),
  },
};

const batchCalls: CallsOf<typeof CouponBatchService> = {
  createBatch: {
    succeeds: (api) => api.createBatch({ count: 100, coupon: { ...termsOf(0), couponCode: '' } }),
    refused: ({ staff }) => staff.createBatch({ count: 1, coupon: {} }),
    invalid: (api) => api.createBatch({ count: 0, prefix: '?' }),
  },
  getBatch: {
    succeeds: (api) => api.getBatch({ id: 1 }),
    refused: ({ staff }) => staff.getBatch({ id: 999 }),
    invalid: (api) => api.getBatch({}),
  },
  listBatches: {
    succeeds: (api) => api.listBatches({}),
    refused: ({ guest }) => guest.listBatches({}),
    invalid: (api) => api.listBatches({ limit: 0 }),
  },
  invalidateBatch: {
    succeeds: (api) => api.invalidateBatch({ id: 1 }),
    refused: ({ staff }) => staff.invalidateBatch({ id: 999 }),
    invalid: (api) => api.invalidateBatch({}),
  },
};

const auditCalls: CallsOf<typeof AuditService> = {
  listEntries: {
    succeeds: (api) => api.listEntries({ limit: 3 }),
    refused: ({ guest }) => guest.listEntries({}),
    invalid: (api) => api.listEntries({ resourceType: 'orders' }),
  },
  watchEntries: {
    succeeds: (api) => firstOf(api.watchEntries({ position: 'oldest' })),
    refused: ({ guest }) => firstOf(guest.watchEntries({})),
    invalid: (api) => firstOf(api.watchEntries({ resourceTypes: ['orders'] })),
  },
};

/** The calls of one procedure, over any transport. */
export interface ProcedureCalls {
  /** Such as `SlotService.getAll`. */
  readonly name: string;
  readonly method: DescMethod;
  succeeds(transport: Transport, n: number): Promise<Message>;
  refused(transports: Callers<Transport>): Promise<unknown>;
  readonly invalid: ((transport: Transport) => Promise<unknown>) | undefined;
}

function proceduresOf<Service extends DescService>(
  desc: Service,
  calls: Readonly<Record<string, CallsOfProcedure<Client<Service>>>>,
): ProcedureCalls[] {
  const over = (transport: Transport) => createClient(desc, transport);
  return desc.methods.flatMap((method) => {
    const { succeeds, refused, invalid } = calls[method.localName] ?? {};
    if (succeeds === undefined || refused === undefined) throw new Error(`${method.name} has no calls`);
    return {
      name: `${desc.name}.${method.localName}`,
      method,
      succeeds: (transport, n) => succeeds(over(transport), n),
      refused: ({ staff, guest, nobody }) => refused({ staff: over(staff), guest: over(guest), nobody: over(nobody) }),
      invalid: invalid && ((transport) => invalid(over(transport))),
    };
  });
}

/** Every procedure of each service. */
export const procedures = {
  slot: [
    ...proceduresOf(SlotService, slotCalls),
    ...proceduresOf(SlotBookingService, bookingCalls),
    ...proceduresOf(SlotStoreService, storeCalls),
    ...proceduresOf(SlotPlanService, planCalls),
    ...proceduresOf(CatalogService, catalogCalls),
    ...proceduresOf(ImportService, importCalls),
    ...proceduresOf(AuditService, auditCalls),
  ],
  coupon: [
    ...proceduresOf(CouponService, couponCalls),
    ...proceduresOf(RedemptionService, redemptionCalls),
    ...proceduresOf(CouponBatchService, batchCalls),
    ...proceduresOf(AuditService, auditCalls),
  ],
} as const;

/** SQL that adds what the calls need beside the fixture of a service. */
export const recordsForCalls = `
  insert into slots (delivery_time, freeze_time) select '2030-01-02Z', '2030-01-01Z' from generate_series(1, 3);
  update slots set delivery_sequence = '[]' where id = 2;
  insert into vendor_snippets (snippet_code, slot_id, product_ids) values ('snippet', 1, '{1}');
  insert into coupons (coupon_code, flat_discount, created_by, is_apply_for_all)
    values ('FIRST', 1, 1, false), ('FOR-ALL', 1, 1, true), ('FOR-NOBODY', 1, 1, false);
  insert into coupon_applicable_users (coupon_id, user_id) values (1, 1);
  insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by)
    select 'CALL-SECRET-' || n, 'OWN-' || n, 1, 1 from generate_series(1, 200) n;
  insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, held_until, created_at)
    select 1, 1, 'held', 1, 1, 'HELD', now() + interval '1 hour', now() from generate_series(1, 200) n;
  insert into slot_bookings (slot_id, order_key, units, state, held_until, created_at)
    select 2, 'held-' || n, 1, 'HELD', now() + interval '1 hour', now() from generate_series(1, 400) n;
  insert into coupon_batches (name, count, created_by) values ('', 1, 1);
  insert into orders (user_id, total_amount) select 1, 10 from generate_series(1, 200);
  insert into order_statuses (order_id) select id from orders`;
