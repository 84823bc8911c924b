import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { CallOptions, Client } from '@connectrpc/connect';
import type { ImportService } from '../../shared/gen/catalog/v1/import_service_pb.ts';
import type { CouponBatchService } from '../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import type { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import type { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import type { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import type { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { idOf } from './database.ts';
import type { TestService } from './service.ts';

type Sql = TestService['database']['sql'];

/** A mutation that changes something, and may be called again. */
export interface PreparedMutation<Api> {
  /** The records that it changes: what they are called in the audit trail. */
  readonly changes: readonly string[];
  call(api: Api, options?: CallOptions, etag?: string): Promise<unknown>;
  /** The same mutation with another request. */
  callOtherwise(api: Api, options?: CallOptions): Promise<unknown>;
  /** Of a mutation of a record that is there already. */
  readonly guarded?: {
    readonly id: number;
    /** Changes nothing after `call`. */
    repeat(api: Api, options?: CallOptions, etag?: string): Promise<unknown>;
  };
}

/** A mutation of one record, which changes nothing when it is made again. */
const ofRecord = <Api>(
  type: string,
  id: number,
  call: PreparedMutation<Api>['call'],
  callOtherwise: PreparedMutation<Api>['callOtherwise'],
): PreparedMutation<Api> => ({ changes: [type], call, callOtherwise, guarded: { id, repeat: call } });

/** Each mutation of a service by its name in the .proto file, with what makes the records that it needs. */
export type Mutations<Api> = Record<string, (sql: Sql) => Promise<PreparedMutation<Api>>>;

const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00.250Z' };
const sequence = (stop: number) => fromJson(ValueSchema, { 1: [stop, 2] });

let count = 0;
/** A name that nothing else has. */
export const newName = (prefix: string) => `${prefix}-${++count}`;

/** Adds a slot with products 1 and 2, which the next refresh stores. Resolves with its id. */
export async function addSlot(sql: Sql): Promise<number> {
  return idOf(
    sql,
    `with slot as (insert into slots (delivery_time, freeze_time) values ('2029-01-02Z', '2029-01-01Z') returning id),
     products as (insert into product_slots select id, n from slot, generate_series(1, 2) n),
     request as (insert into store_refresh_requests (slot_id) select id from slot)
     select id from slot`,
  );
}

/** Adds a coupon of 10 % for user 1. Resolves with its id. */
export async function addCoupon(sql: Sql): Promise<number> {
  const [coupon] = await sql<{ id: number }>(
    'insert into coupons (coupon_code, discount_percent, created_by) values ($1, 10, 1) returning id',
    [newName('COUPON')],
  );
  if (coupon === undefined) throw new Error('no coupon was added');
  await sql('insert into coupon_applicable_users (coupon_id, user_id) values ($1, 1)', [coupon.id]);
  return coupon.id;
}

export async function addOrder(sql: Sql): Promise<number> {
  const [order] = await sql<{ id: number }>('insert into orders (user_id, total_amount) values (1, 99.5) returning id');
  if (order === undefined) throw new Error('no order was added');
  await sql('insert into order_statuses (order_id) values ($1)', [order.id]);
  return order.id;
}

export const slotMutations: Mutations<Client<typeof SlotService>> = {
  async CreateSlot() {
    const request = { ...times, productIds: [3, 1], vendorSnippets: [{ name: newName('snippet'), productIds: [1] }] };
    return {
      changes: ['slot'],
      call: (api, options) => api.createSlot(request, options),
      callOtherwise: (api, options) => api.createSlot({ ...request, vendorSnippets: [] }, options),
    };
  },
  async UpdateSlot(sql) {
    const id = await addSlot(sql);
    const vendorSnippets = [{ name: newName('snippet'), productIds: [1] }];
    return {
      changes: ['slot'],
      call: (api, options, etag = '') =>
        api.updateSlot({ id, ...times, productIds: { ids: [2, 3] }, vendorSnippets, etag }, options),
      callOtherwise: (api, options) => api.updateSlot({ id, ...times, isActive: false }, options),
      guarded: {
        id: id,
        repeat: (api, options, etag = '') =>
          api.updateSlot({ id, ...times, productIds: { ids: [3, 2] }, etag }, options),
      },
    };
  },
  async UpdateSlotProducts(sql) {
    const slotId = await addSlot(sql);
    return ofRecord(
      'slot',
      slotId,
      (api, options, etag = '') => api.updateSlotProducts({ slotId, productIds: [2, 5], etag }, options),
      (api, options) => api.updateSlotProducts({ slotId, productIds: [] }, options),
    );
  },
  async DeleteSlot(sql) {
    const [id, other] = [await addSlot(sql), await addSlot(sql)];
    return ofRecord(
      'slot',
      id,
      (api, options, etag = '') => api.deleteSlot({ id, etag }, options),
      (api, options) => api.deleteSlot({ id: other }, options),
    );
  },
  async UpdateDeliverySequence(sql) {
    const id = await addSlot(sql);
    return ofRecord(
      'slot',
      id,
      (api, options, etag = '') => api.updateDeliverySequence({ id, deliverySequence: sequence(1), etag }, options),
      (api, options) => api.updateDeliverySequence({ id, deliverySequence: sequence(9) }, options),
    );
  },
  async UpdateSlotCapacity(sql) {
    const slotId = await addSlot(sql);
    return ofRecord(
      'slot',
      slotId,
      (api, options, etag = '') => api.updateSlotCapacity({ slotId, isCapacityFull: true, etag }, options),
      (api, options) => api.updateSlotCapacity({ slotId, isCapacityFull: false }, options),
    );
  },
};

let copies = 0;

export const planMutations: Mutations<Client<typeof SlotPlanService>> = {
  async CopySlots(sql) {
    const slotIds = [await addSlot(sql)];
    // Days that no other copy has.
    const shiftDays = ++copies;
    return {
      changes: ['slot'],
      call: (api, options) => api.copySlots({ slotIds, shiftDays }, options),
      callOtherwise: (api, options) => api.copySlots({ slotIds, shiftDays, repeat: 2 }, options),
    };
  },
  async UpdateSlots(sql) {
    const id = await addSlot(sql);
    return ofRecord(
      'slot',
      id,
      (api, options, etag = '') =>
        api.updateSlots({ slots: [{ id, etag }], change: { case: 'isCapacityFull', value: true } }, options),
      (api, options) => api.updateSlots({ slots: [{ id }], change: { case: 'isActive', value: false } }, options),
    );
  },
};

export const couponMutations: Mutations<Client<typeof CouponService>> = {
  async Create() {
    const coupon = { couponCode: newName('CODE'), flatDiscount: 5, applicableUsers: { ids: [2, 1] } };
    return {
      changes: ['coupon'],
      call: (api, options) => api.create({ coupon }, options),
      callOtherwise: (api, options) => api.create({ coupon: { ...coupon, couponCode: newName('OTHER') } }, options),
    };
  },
  async Update(sql) {
    const id = await addCoupon(sql);
    const updates = { coupon: { discountPercent: 0.5, applicableUsers: { ids: [2] } }, isInvalidated: true };
    return ofRecord(
      'coupon',
      id,
      (api, options, etag = '') => api.update({ id, updates, etag }, options),
      (api, options) => api.update({ id, updates: { isInvalidated: false } }, options),
    );
  },
  async Delete(sql) {
    const [id, other] = [await addCoupon(sql), await addCoupon(sql)];
    return ofRecord(
      'coupon',
      id,
      (api, options, etag = '') => api.delete({ id, etag }, options),
      (api, options) => api.delete({ id: other }, options),
    );
  },
  async GenerateCancellationCoupon(sql) {
    const [orderId, other] = [await addOrder(sql), await addOrder(sql)];
    return {
      changes: ['coupon'],
      call: (api, options) => api.generateCancellationCoupon({ orderId }, options),
      callOtherwise: (api, options) => api.generateCancellationCoupon({ orderId: other }, options),
    };
  },
  async CreateReservedCoupon() {
    const coupon = { couponCode: newName('SECRET'), discountPercent: 5, applicableProducts: { ids: [2, 1] } };
    return {
      changes: ['reserved_coupon'],
      call: (api, options) => api.createReservedCoupon({ coupon }, options),
      callOtherwise: (api, options) =>
        api.createReservedCoupon({ coupon: { ...coupon, couponCode: newName('OTHER') } }, options),
    };
  },
  async CreateCoupon() {
    const mobile = String(6_000_000_000 + ++count);
    return {
      changes: ['coupon', 'user'],
      call: (api, options) => api.createCoupon({ mobile }, options),
      callOtherwise: (api, options) => api.createCoupon({ mobile: '9000000001' }, options),
    };
  },
};

/** Adds a redemption that user 1 holds. Resolves with its id. */
export async function addHold(sql: Sql): Promise<number> {
  const couponId = await addCoupon(sql);
  return idOf(
    sql,
    `insert into redemptions (
       coupon_id, user_id, order_key, order_amount, discount_amount, state, held_until, created_at
     )
     values ($1, 1, $2, 100, 10, 'HELD', now() + interval '1 hour', now()) returning id`,
    [couponId, newName('order')],
  );
}

/** Adds a batch of two coupons. Resolves with its id. */
export async function addBatch(sql: Sql): Promise<number> {
  const [batch] = await sql<{ id: number }>(
    `insert into coupon_batches (name, count, created_by) values ('Batch', 2, 1) returning id`,
  );
  if (batch === undefined) throw new Error('no batch was added');
  const codes = [newName('BATCH'), newName('BATCH')];
  await sql('insert into coupons (coupon_code, created_by, batch_id) select unnest($1::text[]), 1, $2', [
    codes,
    batch.id,
  ]);
  return batch.id;
}

/** Adds a booking that is held, in a slot of its own that it fills. Resolves with the ids of both. */
async function addBooking(sql: Sql) {
  const slotId = await idOf(
    sql,
    `insert into slots (delivery_time, freeze_time, capacity) values ('2040-01-02Z', '2040-01-01Z', 1) returning id`,
  );
  const bookingId = await idOf(
    sql,
    `insert into slot_bookings (slot_id, order_key, units, state, held_until, created_at)
     values ($1, $2, 1, 'HELD', now() + interval '1 hour', now()) returning id`,
    [slotId, newName('order')],
  );
  return { slotId, bookingId };
}

export const bookingMutations: Mutations<Client<typeof SlotBookingService>> = {
  async Book(sql) {
    const { slotId, bookingId } = await addBooking(sql);
    await sql('delete from slot_bookings where id = $1', [bookingId]);
    const request = { slotId, orderKey: newName('order'), userId: 1 };
    return {
      changes: ['booking'],
      call: (api, options) => api.book(request, options),
      callOtherwise: (api, options) => api.book({ ...request, holdSeconds: 9 }, options),
    };
  },
  async Confirm(sql) {
    const [{ bookingId }, other] = [await addBooking(sql), await addBooking(sql)];
    return {
      changes: ['booking'],
      call: (api, options) => api.confirm({ bookingId }, options),
      callOtherwise: (api, options) => api.confirm({ bookingId: other.bookingId }, options),
    };
  },
  async Release(sql) {
    const { bookingId } = await addBooking(sql);
    return {
      changes: ['booking'],
      call: (api, options) => api.release({ bookingId, reason: 'cancelled' }, options),
      callOtherwise: (api, options) => api.release({ bookingId, reason: 'another' }, options),
    };
  },
  async Move(sql) {
    const [{ bookingId }, other] = [await addBooking(sql), await addBooking(sql)];
    await sql('delete from slot_bookings where id = $1', [other.bookingId]);
    return {
      changes: ['booking'],
      call: (api, options) => api.move({ bookingId, slotId: other.slotId }, options),
      callOtherwise: (api, options) => api.move({ bookingId: other.bookingId, slotId: other.slotId }, options),
    };
  },
};

export const redemptionMutations: Mutations<Client<typeof RedemptionService>> = {
  async Redeem(sql) {
    const [coupon] = await sql<{ code: string }>('select coupon_code as code from coupons where id = $1', [
      await addCoupon(sql),
    ]);
    await sql('update coupons set is_user_based = true where coupon_code = $1', [coupon?.code]);
    const request = { code: coupon?.code ?? '', userId: 1, orderKey: newName('order'), orderAmount: 100 };
    return {
      changes: ['redemption'],
      call: (api, options) => api.redeem(request, options),
      callOtherwise: (api, options) => api.redeem({ ...request, orderAmount: 90 }, options),
    };
  },
  async Confirm(sql) {
    const [redemptionId, other] = [await addHold(sql), await addHold(sql)];
    return {
      changes: ['redemption'],
      call: (api, options) => api.confirm({ redemptionId }, options),
      callOtherwise: (api, options) => api.confirm({ redemptionId: other }, options),
    };
  },
  async Release(sql) {
    const redemptionId = await addHold(sql);
    return {
      changes: ['redemption'],
      call: (api, options) => api.release({ redemptionId, reason: 'cancelled' }, options),
      callOtherwise: (api, options) => api.release({ redemptionId, reason: 'another' }, options),
    };
  },
  async Claim(sql) {
    const secretCode = newName('SECRET');
    await sql(
      `insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by) values ($1, $1 || '-OWN', 5, 1)`,
      [secretCode],
    );
    return {
      changes: ['coupon', 'reserved_coupon'],
      call: (api, options) => api.claim({ secretCode, userId: 1 }, options),
      callOtherwise: (api, options) => api.claim({ secretCode, userId: 2 }, options),
    };
  },
};

export const batchMutations: Mutations<Client<typeof CouponBatchService>> = {
  async CreateBatch() {
    const request = { count: 2, coupon: { flatDiscount: 5, applicableUsers: { ids: [2, 1] } } };
    return {
      changes: ['coupon_batch'],
      call: (api, options) => api.createBatch(request, options),
      callOtherwise: (api, options) => api.createBatch({ ...request, count: 3 }, options),
    };
  },
  async InvalidateBatch(sql) {
    const [id, other] = [await addBatch(sql), await addBatch(sql)];
    return {
      changes: ['coupon_batch'],
      call: (api, options) => api.invalidateBatch({ id }, options),
      callOtherwise: (api, options) => api.invalidateBatch({ id: other }, options),
    };
  },
};

export const importMutations: Mutations<Client<typeof ImportService>> = {
  async ImportUsers() {
    const [externalId, mobile] = [newName('user'), newName('90')];
    return {
      changes: ['user', 'user'],
      call: (api, options) =>
        api.importUsers(
          {
            users: [
              { externalId, mobile },
              { externalId: `${externalId}-too`, name: 'Asha' },
            ],
          },
          options,
        ),
      callOtherwise: (api, options) => api.importUsers({ users: [{ externalId, mobile, name: 'Other' }] }, options),
    };
  },
  async ImportProducts() {
    const externalId = newName('product');
    return {
      changes: ['product'],
      call: (api, options) => api.importProducts({ products: [{ externalId, name: 'Milk' }] }, options),
      callOtherwise: (api, options) => api.importProducts({ products: [{ externalId, isRetired: true }] }, options),
    };
  },
  async ImportProductGroups() {
    const externalId = newName('group');
    return {
      changes: ['product_group'],
      call: (api, options) => api.importProductGroups({ groups: [{ externalId, name: 'Dairy' }] }, options),
      callOtherwise: (api, options) => api.importProductGroups({ groups: [{ externalId, name: 'Milk' }] }, options),
    };
  },
  async ImportOrders() {
    const externalId = newName('order');
    return {
      changes: ['order'],
      call: (api, options) => api.importOrders({ orders: [{ externalId, totalAmount: '1.5' }] }, options),
      callOtherwise: (api, options) => api.importOrders({ orders: [{ externalId, totalAmount: '2' }] }, options),
    };
  },
};
