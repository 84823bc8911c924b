import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type DescMethod, type DescService, fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { type CallOptions, type Client, createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { couponErrors } from '../../../services/coupon-service/errors.ts';
import { slotErrors } from '../../../services/slot-service/errors.ts';
import { commonErrors, errorInfo } from '../../../shared/errors/errors.ts';
import { CouponBatchService } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotPlanService } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { isMutation } from '../../../shared/rpc/procedure.ts';
import { failureOf } from '../../support/contract.ts';
import { everyRow } from '../../support/every-row.ts';
import { expectedErrors } from '../../support/expected-errors.ts';
import { addBatch, addCoupon, addHold, addOrder, addSlot, newName } from '../../support/mutations.ts';
import { runService, type ServiceInTests } from '../../support/running-service.ts';

type Sql = ServiceInTests['sql'];

/** A call that is refused for a reason, and what it needs. */
interface Refusal<Api> {
  readonly reason: string;
  /** Of whoever calls without a staff identity. */
  readonly isOfGuest?: true;
  /** The request has three items, of which the one at `at` is wrong. */
  readonly isOfThree?: true;
  /** The request has the etags of the records that exist if `isGuarded`, and else none. */
  readonly isOfRecord?: true;
  prepare(
    sql: Sql,
    how: { at: number; isGuarded: boolean },
  ): Promise<(api: Api, options: CallOptions) => Promise<unknown>>;
}

const missing = 2_147_480_000;
const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };
const outdated = '1';

async function etagOf(sql: Sql, table: 'slots' | 'coupons', id: number, isGuarded: boolean): Promise<string> {
  const [row] = await sql<{ etag: string }>(`select etag::text from ${table} where id = $1`, [id]);
  return isGuarded ? (row?.etag ?? '') : '';
}

/** Three items, of which the one at `at` is wrong. */
const three = <Item>(at: number, right: (n: number) => Item, wrong: Item) =>
  [0, 1, 2].map((n) => (n === at ? wrong : right(n)));

const snippet = (productIds = [1]): { name: string; productIds: number[]; validTill?: string } => ({
  name: newName('snippet'),
  productIds,
});
const withUnknownProduct = (at: number) => three(at, () => snippet(), snippet([1, missing]));
const withBadDate = (at: number) => three(at, () => snippet(), { ...snippet(), validTill: 'someday' });
const withTakenName = async (sql: Sql, at: number) => {
  const name = newName('taken');
  await sql('insert into vendor_snippets (slot_id, snippet_code, product_ids) values ($1, $2, array[1])', [
    await addSlot(sql),
    name,
  ]);
  return three(at, () => snippet(), { name, productIds: [1] });
};
const withUnknownId = (at: number) => ({ ids: three(at, (n) => n + 1, missing) });

type Slots = Client<typeof SlotService>;
/** The refusals of a mutation of one slot: it is missing, or its etag is outdated. */
const ofSlot = (
  call: (api: Slots, id: number, etag: string, options: CallOptions) => Promise<unknown>,
): Refusal<Slots>[] => [
  { reason: 'SLOT_NOT_FOUND', prepare: async () => (api, options) => call(api, missing, outdated, options) },
  {
    reason: 'ETAG_MISMATCH',
    async prepare(sql) {
      const id = await addSlot(sql);
      return (api, options) => call(api, id, outdated, options);
    },
  },
];
const updateSlot =
  (given: (sql: Sql, at: number) => Promise<object>): Refusal<Slots>['prepare'] =>
  async (sql, { at, isGuarded }) => {
    const id = await addSlot(sql);
    const request = { id, ...times, productIds: { ids: [9] }, etag: await etagOf(sql, 'slots', id, isGuarded) };
    const rest = await given(sql, at);
    return (api, options) => api.updateSlot({ ...request, ...rest }, options);
  };

const slotRefusals: Record<string, Refusal<Slots>[]> = {
  CreateSlot: [
    { reason: 'ACCESS_DENIED', isOfGuest: true, prepare: async () => (api, options) => api.createSlot(times, options) },
    {
      reason: 'TIMES_REQUIRED',
      prepare: async () => (api, options) =>
        api.createSlot({ ...times, freezeTime: '', vendorSnippets: [snippet()] }, options),
    },
    {
      reason: 'INVALID_REQUEST',
      isOfThree: true,
      prepare:
        async (_sql, { at }) =>
        (api, options) =>
          api.createSlot({ ...times, vendorSnippets: withBadDate(at) }, options),
    },
    {
      reason: 'SNIPPET_PRODUCTS_INVALID',
      isOfThree: true,
      prepare:
        async (_sql, { at }) =>
        (api, options) =>
          api.createSlot({ ...times, productIds: [1], vendorSnippets: withUnknownProduct(at) }, options),
    },
    {
      reason: 'SNIPPET_NAME_TAKEN',
      isOfThree: true,
      async prepare(sql, { at }) {
        const vendorSnippets = await withTakenName(sql, at);
        return (api, options) => api.createSlot({ ...times, productIds: [1], vendorSnippets }, options);
      },
    },
  ],
  UpdateSlot: [
    ...ofSlot((api, id, etag, options) => api.updateSlot({ id, ...times, productIds: { ids: [] }, etag }, options)),
    { reason: 'TIMES_REQUIRED', isOfRecord: true, prepare: updateSlot(async () => ({ deliveryTime: '' })) },
    {
      reason: 'INVALID_REQUEST',
      ...{ isOfThree: true, isOfRecord: true },
      prepare: updateSlot(async (_sql, at) => ({ vendorSnippets: withBadDate(at) })),
    },
    {
      reason: 'SNIPPET_PRODUCTS_INVALID',
      ...{ isOfThree: true, isOfRecord: true },
      prepare: updateSlot(async (_sql, at) => ({ vendorSnippets: withUnknownProduct(at) })),
    },
    {
      reason: 'SNIPPET_NAME_TAKEN',
      ...{ isOfThree: true, isOfRecord: true },
      prepare: updateSlot(async (sql, at) => ({ vendorSnippets: await withTakenName(sql, at) })),
    },
  ],
  UpdateSlotProducts: ofSlot((api, slotId, etag, options) =>
    api.updateSlotProducts({ slotId, productIds: [4, 5, 6], etag: etag || outdated }, options),
  ).map((refusal) => ({ ...refusal, reason: 'ETAG_MISMATCH' })),
  DeleteSlot: ofSlot((api, id, etag, options) => api.deleteSlot({ id, etag }, options)),
  UpdateDeliverySequence: [
    ...ofSlot((api, id, etag, options) =>
      api.updateDeliverySequence({ id, etag, deliverySequence: fromJson(ValueSchema, { 1: [2] }) }, options),
    ),
    {
      reason: 'INVALID_REQUEST',
      isOfRecord: true,
      async prepare(sql, { isGuarded }) {
        const id = await addSlot(sql);
        const etag = await etagOf(sql, 'slots', id, isGuarded);
        return (api, options) => api.updateDeliverySequence({ id, etag }, options);
      },
    },
  ],
  UpdateSlotCapacity: ofSlot((api, slotId, etag, options) =>
    api.updateSlotCapacity({ slotId, isCapacityFull: true, etag }, options),
  ),
};

type Plan = Client<typeof SlotPlanService>;
const updateSlots =
  (wrong: { id?: number; etag?: string }): Refusal<Plan>['prepare'] =>
  async (sql, { at, isGuarded }) => {
    const ids = [await addSlot(sql), await addSlot(sql), await addSlot(sql)];
    const slots = await Promise.all(ids.map(async (id) => ({ id, etag: await etagOf(sql, 'slots', id, isGuarded) })));
    const given = three(at, (n) => slots[n] ?? {}, { id: ids[at] ?? 0, ...wrong });
    return (api, options) => api.updateSlots({ slots: given, change: { case: 'isActive', value: false } }, options);
  };
let weeks = 0;
/** Copies of three slots with a snippet each. */
const copySlots =
  (change: (sql: Sql, id: number) => Promise<unknown>, request: object = {}): Refusal<Plan>['prepare'] =>
  async (sql, { at }) => {
    const slotIds = [await addSlot(sql), await addSlot(sql), await addSlot(sql)];
    // Times that no other copy has.
    weeks += 1;
    for (const [n, id] of slotIds.entries()) {
      await sql(
        `update slots set delivery_time = '2029-01-02Z'::timestamptz + $2 * interval '7 days' + $3 * interval '1 hour'
         where id = $1`,
        [id, weeks, n],
      );
      await sql('insert into vendor_snippets (slot_id, snippet_code, product_ids) values ($1, $2, array[1])', [
        id,
        newName('source'),
      ]);
    }
    await change(sql, slotIds[at] ?? 0);
    return (api, options) =>
      api.copySlots({ slotIds, shiftDays: 3, snippetName: '{name} {date}', ...request }, options);
  };

const planRefusals: Record<string, Refusal<Plan>[]> = {
  CopySlots: [
    {
      reason: 'SLOT_NOT_FOUND',
      isOfThree: true,
      prepare: async (sql, { at }) => {
        const slotIds = three(at, () => 0, missing);
        for (const n of [0, 1, 2]) if (n !== at) slotIds[n] = await addSlot(sql);
        return (api, options) => api.copySlots({ slotIds, shiftDays: 2 }, options);
      },
    },
    { reason: 'INVALID_REQUEST', prepare: copySlots(async () => undefined, { timeZone: 'Nowhere' }) },
    {
      reason: 'SLOT_TAKEN',
      isOfThree: true,
      prepare: copySlots(
        (sql, id) =>
          sql(
            `insert into slots (delivery_time, freeze_time)
             select delivery_time + interval '3 days', freeze_time from slots where id = $1`,
            [id],
          ),
        { onTaken: 2 },
      ),
    },
    {
      reason: 'SNIPPET_PRODUCTS_INVALID',
      isOfThree: true,
      prepare: copySlots((sql, id) =>
        sql('update vendor_snippets set product_ids = array[1, $2::integer] where slot_id = $1', [id, missing]),
      ),
    },
    {
      reason: 'SNIPPET_NAME_TAKEN',
      isOfThree: true,
      prepare: copySlots((sql, id) =>
        sql(
          `insert into vendor_snippets (slot_id, snippet_code, product_ids)
           select slots.id, snippet_code || ' ' || to_char(delivery_time + interval '3 days', 'YYYY-MM-DD'), product_ids
           from slots join vendor_snippets on slot_id = slots.id where slots.id = $1`,
          [id],
        ),
      ),
    },
  ],
  UpdateSlots: [
    {
      reason: 'SLOT_NOT_FOUND',
      ...{ isOfThree: true, isOfRecord: true },
      prepare: updateSlots({ id: missing, etag: '' }),
    },
    { reason: 'ETAG_MISMATCH', ...{ isOfThree: true, isOfRecord: true }, prepare: updateSlots({ etag: outdated }) },
    {
      reason: 'INVALID_REQUEST',
      async prepare(sql) {
        const id = await addSlot(sql);
        const slots = [{ id }, { id: await addSlot(sql) }, { id }];
        return (api, options) => api.updateSlots({ slots, change: { case: 'isActive', value: false } }, options);
      },
    },
  ],
};

type Coupons = Client<typeof CouponService>;
const terms = { flatDiscount: 5, applicableUsers: { ids: [1, 2, 3] }, applicableProducts: { ids: [1, 2, 3] } };
const create =
  (coupon: (at: number) => object): Refusal<Coupons>['prepare'] =>
  async (_sql, { at }) =>
  (api, options) =>
    api.create({ coupon: { ...terms, ...coupon(at) } }, options);
const update =
  (coupon: (at: number) => object, isInvalidated?: boolean): Refusal<Coupons>['prepare'] =>
  async (sql, { at, isGuarded }) => {
    const id = await addCoupon(sql);
    const etag = await etagOf(sql, 'coupons', id, isGuarded);
    const updates = {
      coupon: { minOrder: 7, ...coupon(at) },
      ...(isInvalidated === undefined ? {} : { isInvalidated }),
    };
    return (api, options) => api.update({ id, etag, updates }, options);
  };
const createReserved =
  (coupon: (at: number) => object): Refusal<Coupons>['prepare'] =>
  async (_sql, { at }) =>
  (api, options) =>
    api.createReservedCoupon({ coupon: { ...terms, ...coupon(at) } }, options);
const refund =
  (orderOf: (sql: Sql) => Promise<number>): Refusal<Coupons>['prepare'] =>
  async (sql) => {
    const orderId = await orderOf(sql);
    return (api, options) => api.generateCancellationCoupon({ orderId }, options);
  };
const changedOrder = (change: string) =>
  refund(async (sql) => {
    const id = await addOrder(sql);
    await sql(change, [id]);
    return id;
  });
const oneDiscount = { discountPercent: 1, flatDiscount: 1 };

const couponRefusals: Record<string, Refusal<Coupons>[]> = {
  Create: [
    { reason: 'ONE_DISCOUNT_REQUIRED', prepare: create(() => oneDiscount) },
    {
      reason: 'APPLICABLE_USERS_OR_ALL_REQUIRED',
      prepare: create(() => ({ isUserBased: true, applicableUsers: { ids: [] } })),
    },
    { reason: 'USER_BASED_AND_FOR_ALL', prepare: create(() => ({ isUserBased: true, isApplyForAll: true })) },
    {
      reason: 'APPLICABLE_USERS_NOT_FOUND',
      isOfThree: true,
      prepare: create((at) => ({ applicableUsers: withUnknownId(at) })),
    },
    { reason: 'UNAUTHORIZED', isOfGuest: true, prepare: create(() => ({})) },
    {
      reason: 'COUPON_CODE_TAKEN',
      async prepare(sql) {
        const couponCode = newName('TAKEN');
        await sql('insert into coupons (coupon_code, created_by) values ($1, 1)', [couponCode]);
        return (api, options) => api.create({ coupon: { ...terms, couponCode } }, options);
      },
    },
    {
      reason: 'APPLICABLE_PRODUCTS_NOT_FOUND',
      isOfThree: true,
      prepare: create((at) => ({ applicableProducts: withUnknownId(at) })),
    },
    { reason: 'INVALID_REQUEST', prepare: create(() => ({ validTill: 'someday' })) },
  ],
  Update: [
    { reason: 'TWO_DISCOUNTS', isOfRecord: true, prepare: update(() => oneDiscount) },
    {
      reason: 'APPLICABLE_USERS_REQUIRED',
      isOfRecord: true,
      async prepare(sql, { isGuarded }) {
        const id = await addCoupon(sql);
        await sql('delete from coupon_applicable_users where coupon_id = $1', [id]);
        const etag = await etagOf(sql, 'coupons', id, isGuarded);
        return (api, options) =>
          api.update({ id, etag, updates: { coupon: { isUserBased: true, minOrder: 3 } } }, options);
      },
    },
    {
      reason: 'APPLICABLE_USERS_NOT_FOUND',
      ...{ isOfThree: true, isOfRecord: true },
      prepare: update((at) => ({ applicableUsers: withUnknownId(at) }), true),
    },
    {
      reason: 'APPLICABLE_PRODUCTS_NOT_FOUND',
      ...{ isOfThree: true, isOfRecord: true },
      prepare: update((at) => ({ applicableProducts: withUnknownId(at) }), true),
    },
    {
      reason: 'COUPON_NOT_FOUND',
      prepare: async () => (api, options) => api.update({ id: missing, updates: { coupon: terms } }, options),
    },
    {
      reason: 'ETAG_MISMATCH',
      async prepare(sql) {
        const id = await addCoupon(sql);
        return (api, options) => api.update({ id, etag: outdated, updates: { coupon: terms } }, options);
      },
    },
    {
      reason: 'COUPON_CODE_TAKEN',
      isOfRecord: true,
      async prepare(sql, { isGuarded }) {
        const [id, other] = [await addCoupon(sql), await addCoupon(sql)];
        const [taken] = await sql<{ code: string }>('select coupon_code as code from coupons where id = $1', [other]);
        const etag = await etagOf(sql, 'coupons', id, isGuarded);
        return (api, options) =>
          api.update({ id, etag, updates: { coupon: { ...terms, couponCode: taken?.code ?? '' } } }, options);
      },
    },
    { reason: 'INVALID_REQUEST', isOfRecord: true, prepare: update(() => ({ couponCode: '' })) },
  ],
  Delete: [
    {
      reason: 'COUPON_NOT_FOUND',
      prepare: async () => (api, options) => api.delete({ id: missing, etag: outdated }, options),
    },
    {
      reason: 'ETAG_MISMATCH',
      async prepare(sql) {
        const id = await addCoupon(sql);
        return (api, options) => api.delete({ id, etag: outdated }, options);
      },
    },
  ],
  GenerateCancellationCoupon: [
    { reason: 'UNAUTHORIZED', isOfGuest: true, prepare: refund(addOrder) },
    { reason: 'ORDER_NOT_FOUND', prepare: refund(async () => missing) },
    { reason: 'ORDER_USER_NOT_FOUND', prepare: changedOrder('update orders set user_id = null where id = $1') },
    {
      reason: 'ORDER_TOTAL_INVALID',
      prepare: refund(async (sql) => {
        // As a row from before the check.
        await sql('alter table orders drop constraint orders_sound');
        const id = await addOrder(sql);
        await sql('update orders set total_amount = -1 where id = $1', [id]);
        await sql(
          `alter table orders add constraint orders_sound check (total_amount >= 0 and total_amount < 'Infinity') not valid`,
        );
        return id;
      }),
    },
    {
      reason: 'COUPON_CODE_TAKEN',
      prepare: changedOrder(`insert into coupons (coupon_code, created_by) select 'USE' || $1::integer, 1`),
    },
  ],
  CreateReservedCoupon: [
    { reason: 'ONE_DISCOUNT_REQUIRED', prepare: createReserved(() => oneDiscount) },
    { reason: 'UNAUTHORIZED', isOfGuest: true, prepare: createReserved(() => ({})) },
    {
      reason: 'SECRET_CODE_TAKEN',
      async prepare(sql) {
        const couponCode = newName('TAKEN');
        await sql('insert into reserved_coupons (secret_code, coupon_code, created_by) values ($1, $1, 1)', [
          couponCode,
        ]);
        return (api, options) => api.createReservedCoupon({ coupon: { ...terms, couponCode } }, options);
      },
    },
    {
      reason: 'APPLICABLE_PRODUCTS_NOT_FOUND',
      isOfThree: true,
      prepare: createReserved((at) => ({ applicableProducts: withUnknownId(at) })),
    },
  ],
  CreateCoupon: [
    { reason: 'INVALID_REQUEST', prepare: async () => (api, options) => api.createCoupon({ mobile: '' }, options) },
    {
      reason: 'UNAUTHORIZED',
      isOfGuest: true,
      prepare: async () => (api, options) => api.createCoupon({ mobile: '7000000001' }, options),
    },
    {
      reason: 'MOBILE_NOT_TEN_DIGITS',
      prepare: async () => (api, options) => api.createCoupon({ mobile: '123456789' }, options),
    },
  ],
};

type Redemptions = Client<typeof RedemptionService>;
async function addReserved(sql: Sql, columns = ''): Promise<string> {
  const code = newName('SECRET');
  await sql(
    'insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by) values ($1, $1, 5, 1)',
    [code],
  );
  if (columns !== '') await sql(`update reserved_coupons set ${columns} where secret_code = $1`, [code]);
  return code;
}
const ofRedemption =
  (
    call: (api: Redemptions, redemptionId: number, options: CallOptions) => Promise<unknown>,
    change: string,
  ): Refusal<Redemptions>['prepare'] =>
  async (sql) => {
    const id = await addHold(sql);
    await sql(change, [id]);
    return (api, options) => call(api, id, options);
  };

const redemptionRefusals: Record<string, Refusal<Redemptions>[]> = {
  Redeem: [
    {
      reason: 'USER_NOT_FOUND',
      prepare: async () => (api, options) =>
        api.redeem({ code: 'NONE', userId: missing, orderKey: newName('order'), orderAmount: 1 }, options),
    },
    {
      reason: 'ORDER_KEY_TAKEN',
      async prepare(sql) {
        const id = await addHold(sql);
        const [held] = await sql<{ code: string; order_key: string }>(
          `select coupon_code as code, order_key from redemptions join coupons on coupons.id = coupon_id
           where redemptions.id = $1`,
          [id],
        );
        await sql('update coupons set is_apply_for_all = true where coupon_code = $1', [held?.code]);
        const request = { code: held?.code ?? '', userId: 2, orderKey: held?.order_key ?? '', orderAmount: 50 };
        return (api, options) => api.redeem(request, options);
      },
    },
  ],
  Confirm: [
    {
      reason: 'REDEMPTION_NOT_FOUND',
      prepare: async () => (api, options) => api.confirm({ redemptionId: missing }, options),
    },
    {
      reason: 'HOLD_EXPIRED',
      prepare: ofRedemption(
        (api, redemptionId, options) => api.confirm({ redemptionId }, options),
        `with coupon as (
           update coupons set max_limit_for_user = 1 from redemptions where redemptions.id = $1 and coupons.id = coupon_id
         ),
         other as (
           insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
           select coupon_id, user_id, order_key || '-other', 1, 1, 'USED', now(), now() from redemptions where id = $1
         )
         update redemptions set held_until = now() - interval '1 minute' where id = $1`,
      ),
    },
    {
      reason: 'REDEMPTION_RELEASED',
      prepare: ofRedemption(
        (api, redemptionId, options) => api.confirm({ redemptionId }, options),
        `update redemptions set state = 'RELEASED', held_until = null, released_at = now() where id = $1`,
      ),
    },
  ],
  Release: [
    {
      reason: 'REDEMPTION_NOT_FOUND',
      prepare: async () => (api, options) => api.release({ redemptionId: missing }, options),
    },
  ],
  Claim: [
    {
      reason: 'USER_NOT_FOUND',
      async prepare(sql) {
        const secretCode = await addReserved(sql);
        return (api, options) => api.claim({ secretCode, userId: missing }, options);
      },
    },
    {
      reason: 'SECRET_CODE_NOT_FOUND',
      prepare: async () => (api, options) => api.claim({ secretCode: newName('NONE'), userId: 1 }, options),
    },
    {
      reason: 'SECRET_CODE_CLAIMED',
      async prepare(sql) {
        const secretCode = await addReserved(sql, 'redeemed_by = 2');
        return (api, options) => api.claim({ secretCode, userId: 1 }, options);
      },
    },
    {
      reason: 'SECRET_CODE_EXPIRED',
      async prepare(sql) {
        const secretCode = await addReserved(sql, `valid_till = now() - interval '1 day'`);
        return (api, options) => api.claim({ secretCode, userId: 1 }, options);
      },
    },
  ],
};

type Batches = Client<typeof CouponBatchService>;
const createBatch =
  (coupon: (at: number) => object, count = 3): Refusal<Batches>['prepare'] =>
  async (_sql, { at }) =>
  (api, options) =>
    api.createBatch({ count, coupon: { ...terms, ...coupon(at) } }, options);

const batchRefusals: Record<string, Refusal<Batches>[]> = {
  CreateBatch: [
    { reason: 'ACCESS_DENIED', isOfGuest: true, prepare: createBatch(() => ({})) },
    { reason: 'ONE_DISCOUNT_REQUIRED', prepare: createBatch(() => oneDiscount) },
    {
      reason: 'APPLICABLE_USERS_OR_ALL_REQUIRED',
      prepare: createBatch(() => ({ isUserBased: true, applicableUsers: { ids: [] } })),
    },
    { reason: 'USER_BASED_AND_FOR_ALL', prepare: createBatch(() => ({ isUserBased: true, isApplyForAll: true })) },
    {
      reason: 'APPLICABLE_USERS_NOT_FOUND',
      isOfThree: true,
      prepare: createBatch((at) => ({ applicableUsers: withUnknownId(at) })),
    },
    {
      reason: 'APPLICABLE_PRODUCTS_NOT_FOUND',
      isOfThree: true,
      prepare: createBatch((at) => ({ applicableProducts: withUnknownId(at) })),
    },
    { reason: 'INVALID_REQUEST', prepare: createBatch(() => ({ couponCode: 'ONE' })) },
  ],
  InvalidateBatch: [
    { reason: 'BATCH_NOT_FOUND', prepare: async () => (api, options) => api.invalidateBatch({ id: missing }, options) },
    {
      // Its record is gone, and coupons refer to it still.
      reason: 'BATCH_NOT_FOUND',
      async prepare(sql) {
        const id = await addBatch(sql);
        await sql('delete from coupon_batches where id = $1', [id]);
        return (api, options) => api.invalidateBatch({ id }, options);
      },
    },
  ],
};

/** The reasons whose messages stand in the comment of a procedure in its .proto file, and those of its fields. */
function documentedReasons(method: DescMethod): string[] {
  const file = readFileSync(`proto/${method.parent.file.name}.proto`, 'utf8');
  const [, comment = ''] = new RegExp(`((?: *//[^\\n]*\\n)+) *rpc ${method.name}\\(`).exec(file) ?? [];
  const text = comment.replaceAll(/\s*\/\/\s*/g, ' ');
  const rows = [...Object.values(slotErrors), ...Object.values(couponErrors)];
  const quoted = rows.filter(({ message }) => text.includes(`"${message}"`) || text.includes(`'${message}'`));
  const hasEtag = [method.input, ...method.input.fields.map((field) => field.message)].some((message) =>
    message?.fields.some(({ name }) => name === 'etag'),
  );
  return [...quoted.map(({ reason }) => reason), ...(hasEtag ? [commonErrors.etagMismatch.reason] : [])];
}

/** What the test can't bring about: a drawn code that is taken, and an UpdateSlot without a cause. */
const unreachable = ['GENERATED_CODE_TAKEN', 'SLOT_NOT_UPDATED', 'TOO_MANY_MISSES'];

function refused<Service extends DescService>(
  name: 'slot' | 'coupon',
  desc: Service,
  refusals: Record<string, Refusal<Client<Service>>[]>,
): void {
  describe(`A refused mutation of ${desc.name}`, () => {
    const service = runService(name);
    const [staff, guest] = [createClient(desc, service.staff), createClient(desc, service.guest)];

    /** The last request for a refresh that is committed. A refresh deletes requests, and no id comes twice. */
    async function lastRefreshRequest(): Promise<number> {
      const [row] = await service.sql<{ id: number }>(
        'select coalesce(max(id), 0)::integer as id from store_refresh_requests',
      );
      return row?.id ?? 0;
    }

    const cases = Object.entries(refusals).flatMap(([procedure, all]) =>
      all.flatMap((refusal) =>
        (refusal.isOfThree ? [0, 1, 2] : [0]).flatMap((at) =>
          (refusal.isOfRecord ? [false, true] : [false]).flatMap((isGuarded) =>
            [false, true].map((isKeyed) => ({ procedure, refusal, reason: refusal.reason, at, isGuarded, isKeyed })),
          ),
        ),
      ),
    );

    it.each(cases)(
      '$procedure refused with $reason says so and has written nothing (item $at, with etags: $isGuarded, with a key: $isKeyed)',
      async ({ refusal, reason, at, isGuarded, isKeyed }) => {
        const call = await refusal.prepare(service.sql, { at, isGuarded });
        const [before, lastRequest] = [await everyRow(service.database), await lastRefreshRequest()];
        const headers: Record<string, string> = isKeyed ? { 'idempotency-key': randomUUID() } : {};
        const error = await failureOf(call(refusal.isOfGuest ? guest : staff, { headers }));
        const info = errorInfo(error);
        expect(info?.metadata.causeReason ?? info?.reason, error.rawMessage).toBe(reason);
        const [, message] =
          new Map<string, readonly [string, string]>(Object.entries(expectedErrors)).get(reason) ?? [];
        if (message !== undefined) expect(info?.metadata.causeMessage ?? error.rawMessage).toBe(message);
        expect(await everyRow(service.database)).toEqual(before);
        expect(await lastRefreshRequest()).toBeLessThanOrEqual(lastRequest);
      },
    );

    it.each(desc.methods.filter(isMutation))('$name has a refusal for each documented reason', (method) => {
      const tried = (refusals[method.name] ?? []).map(({ reason }) => reason);
      expect(tried).not.toEqual([]);
      const documented = documentedReasons(method).filter((reason) => !unreachable.includes(reason));
      expect(tried).toEqual(expect.arrayContaining(documented));
    });
  });
}

refused('slot', SlotService, slotRefusals);
refused('slot', SlotPlanService, planRefusals);
refused('coupon', CouponService, couponRefusals);
refused('coupon', RedemptionService, redemptionRefusals);
refused('coupon', CouponBatchService, batchRefusals);
