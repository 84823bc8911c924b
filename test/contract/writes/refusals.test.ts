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
import { idOf } from '../../support/database.ts';
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
const addSnippet = (sql: Sql, slotId: number, name: string) =>
  sql('insert into vendor_snippets (slot_id, snippet_code, product_ids) values ($1, $2, array[1])', [slotId, name]);
const withTakenName = async (sql: Sql, at: number) => {
  const name = newName('taken');
  await addSnippet(sql, await addSlot(sql), name);
  return three(at, () => snippet(), { name, productIds: [1] });
};
const withUnknownId = (at: number) => ({ ids: three(at, (n) => n + 1, missing) });

type Prepare<Api> = Refusal<Api>['prepare'];
type Call<Api> = Awaited<ReturnType<Prepare<Api>>>;
const ofGuest = { isOfGuest: true } as const;
const ofThree = { isOfThree: true } as const;
const ofRecord = { isOfRecord: true } as const;
const ofThreeOfRecord = { ...ofThree, ...ofRecord };

/** A refusal that needs something before its call. */
const after = <Api>(reason: string, prepare: Prepare<Api>, kind: object = {}): Refusal<Api> => ({
  ...{ reason, ...kind },
  prepare,
});
const plain = <Api>(reason: string, call: Call<Api>, kind: object = {}): Refusal<Api> =>
  after(reason, async () => call, kind);

type Slots = Client<typeof SlotService>;
/** The refusals of a mutation of one slot: it is missing, or its etag is outdated. */
const ofSlot = (
  call: (api: Slots, id: number, etag: string, options: CallOptions) => Promise<unknown>,
): Refusal<Slots>[] => [
  plain('SLOT_NOT_FOUND', (api, options) => call(api, missing, outdated, options)),
  after('ETAG_MISMATCH', async (sql) => {
    const id = await addSlot(sql);
    return (api, options) => call(api, id, outdated, options);
  }),
];
const createSlot =
  (given: (sql: Sql, at: number) => Promise<object>): Prepare<Slots> =>
  async (sql, { at }) => {
    const rest = await given(sql, at);
    return (api, options) => api.createSlot({ ...times, productIds: [1], ...rest }, options);
  };
const updateSlot =
  (given: (sql: Sql, at: number) => Promise<object>): Prepare<Slots> =>
  async (sql, { at, isGuarded }) => {
    const id = await addSlot(sql);
    const request = { id, ...times, productIds: { ids: [9] }, etag: await etagOf(sql, 'slots', id, isGuarded) };
    const rest = await given(sql, at);
    return (api, options) => api.updateSlot({ ...request, ...rest }, options);
  };
/** The snippets that CreateSlot and UpdateSlot refuse. */
const wrongSnippets: readonly (readonly [reason: string, given: (sql: Sql, at: number) => Promise<object>])[] = [
  ['INVALID_REQUEST', async (_sql, at) => ({ vendorSnippets: withBadDate(at) })],
  ['SNIPPET_PRODUCTS_INVALID', async (_sql, at) => ({ vendorSnippets: withUnknownProduct(at) })],
  ['SNIPPET_NAME_TAKEN', async (sql, at) => ({ vendorSnippets: await withTakenName(sql, at) })],
];

const slotRefusals: Record<string, Refusal<Slots>[]> = {
  CreateSlot: [
    plain('ACCESS_DENIED', (api, options) => api.createSlot(times, options), ofGuest),
    after(
      'TIMES_REQUIRED',
      createSlot(async () => ({ freezeTime: '', vendorSnippets: [snippet()] })),
    ),
    ...wrongSnippets.map(([reason, given]) => after(reason, createSlot(given), ofThree)),
  ],
  UpdateSlot: [
    ...ofSlot((api, id, etag, options) => api.updateSlot({ id, ...times, productIds: { ids: [] }, etag }, options)),
    after(
      'TIMES_REQUIRED',
      updateSlot(async () => ({ deliveryTime: '' })),
      ofRecord,
    ),
    ...wrongSnippets.map(([reason, given]) => after(reason, updateSlot(given), ofThreeOfRecord)),
  ],
  UpdateSlotProducts: ofSlot((api, slotId, etag, options) =>
    api.updateSlotProducts({ slotId, productIds: [4, 5, 6], etag }, options),
  ).map((refusal) => ({ ...refusal, reason: 'ETAG_MISMATCH' })),
  DeleteSlot: ofSlot((api, id, etag, options) => api.deleteSlot({ id, etag }, options)),
  UpdateDeliverySequence: [
    ...ofSlot((api, id, etag, options) =>
      api.updateDeliverySequence({ id, etag, deliverySequence: fromJson(ValueSchema, { 1: [2] }) }, options),
    ),
    after(
      'INVALID_REQUEST',
      async (sql, { isGuarded }) => {
        const id = await addSlot(sql);
        const etag = await etagOf(sql, 'slots', id, isGuarded);
        return (api, options) => api.updateDeliverySequence({ id, etag }, options);
      },
      ofRecord,
    ),
  ],
  UpdateSlotCapacity: ofSlot((api, slotId, etag, options) =>
    api.updateSlotCapacity({ slotId, isCapacityFull: true, etag }, options),
  ),
};

type Plan = Client<typeof SlotPlanService>;
const change = { case: 'isActive', value: false } as const;
const updateSlots =
  (wrong: { id?: number; etag?: string }): Prepare<Plan> =>
  async (sql, { at, isGuarded }) => {
    const ids = [await addSlot(sql), await addSlot(sql), await addSlot(sql)];
    const slots = await Promise.all(ids.map(async (id) => ({ id, etag: await etagOf(sql, 'slots', id, isGuarded) })));
    const given = three(at, (n) => slots[n] ?? {}, { id: ids[at] ?? 0, ...wrong });
    return (api, options) => api.updateSlots({ slots: given, change }, options);
  };
let weeks = 0;
/** Copies of three slots with a snippet each. */
const copySlots =
  (statement: string, request: object = {}): Prepare<Plan> =>
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
      await addSnippet(sql, id, newName('source'));
    }
    await sql(statement, [slotIds[at]]);
    return (api, options) =>
      api.copySlots({ slotIds, shiftDays: 3, snippetName: '{name} {date}', ...request }, options);
  };

const planRefusals: Record<string, Refusal<Plan>[]> = {
  CopySlots: [
    after(
      'SLOT_NOT_FOUND',
      async (sql, { at }) => {
        const slotIds = three(at, () => 0, missing);
        for (const n of [0, 1, 2]) if (n !== at) slotIds[n] = await addSlot(sql);
        return (api, options) => api.copySlots({ slotIds, shiftDays: 2 }, options);
      },
      ofThree,
    ),
    after('INVALID_REQUEST', copySlots('select $1::integer', { timeZone: 'Nowhere' })),
    after(
      'SLOT_TAKEN',
      copySlots(
        `insert into slots (delivery_time, freeze_time)
         select delivery_time + interval '3 days', freeze_time from slots where id = $1`,
        { onTaken: 2 },
      ),
      ofThree,
    ),
    after(
      'SNIPPET_PRODUCTS_INVALID',
      copySlots(`update vendor_snippets set product_ids = array[1, ${missing}] where slot_id = $1`),
      ofThree,
    ),
    after(
      'SNIPPET_NAME_TAKEN',
      copySlots(
        `insert into vendor_snippets (slot_id, snippet_code, product_ids)
         select slots.id, snippet_code || ' ' || to_char(delivery_time + interval '3 days', 'YYYY-MM-DD'), product_ids
         from slots join vendor_snippets on slot_id = slots.id where slots.id = $1`,
      ),
      ofThree,
    ),
  ],
  UpdateSlots: [
    after('SLOT_NOT_FOUND', updateSlots({ id: missing, etag: '' }), ofThreeOfRecord),
    after('ETAG_MISMATCH', updateSlots({ etag: outdated }), ofThreeOfRecord),
    after('INVALID_REQUEST', async (sql) => {
      const id = await addSlot(sql);
      const slots = [{ id }, { id: await addSlot(sql) }, { id }];
      return (api, options) => api.updateSlots({ slots, change }, options);
    }),
  ],
};

type Coupons = Client<typeof CouponService>;
const terms = { flatDiscount: 5, applicableUsers: { ids: [1, 2, 3] }, applicableProducts: { ids: [1, 2, 3] } };
const oneDiscount = { discountPercent: 1, flatDiscount: 1 };
const create =
  (coupon: (at: number) => object): Prepare<Coupons> =>
  async (_sql, { at }) =>
  (api, options) =>
    api.create({ coupon: { ...terms, ...coupon(at) } }, options);
const update =
  (coupon: (at: number) => object, invalidated: { isInvalidated?: boolean } = {}): Prepare<Coupons> =>
  async (sql, { at, isGuarded }) => {
    const id = await addCoupon(sql);
    const etag = await etagOf(sql, 'coupons', id, isGuarded);
    const updates = { coupon: { minOrder: 7, ...coupon(at) }, ...invalidated };
    return (api, options) => api.update({ id, etag, updates }, options);
  };
const createReserved =
  (coupon: (at: number) => object): Prepare<Coupons> =>
  async (_sql, { at }) =>
  (api, options) =>
    api.createReservedCoupon({ coupon: { ...terms, ...coupon(at) } }, options);
const refund =
  (statement: string): Prepare<Coupons> =>
  async (sql) => {
    const orderId = await addOrder(sql);
    await sql(statement.replaceAll('$1', String(orderId)));
    return (api, options) => api.generateCancellationCoupon({ orderId }, options);
  };
/** The terms that Create and CreateBatch refuse. */
const wrongTerms: readonly (readonly [reason: string, coupon: (at: number) => object, kind?: object])[] = [
  ['ONE_DISCOUNT_REQUIRED', () => oneDiscount],
  ['APPLICABLE_USERS_OR_ALL_REQUIRED', () => ({ isUserBased: true, applicableUsers: { ids: [] } })],
  ['USER_BASED_AND_FOR_ALL', () => ({ isUserBased: true, isApplyForAll: true })],
  ['APPLICABLE_USERS_NOT_FOUND', (at) => ({ applicableUsers: withUnknownId(at) }), ofThree],
  ['APPLICABLE_PRODUCTS_NOT_FOUND', (at) => ({ applicableProducts: withUnknownId(at) }), ofThree],
];

const couponRefusals: Record<string, Refusal<Coupons>[]> = {
  Create: [
    ...wrongTerms.map(([reason, coupon, kind]) => after(reason, create(coupon), kind)),
    after(
      'UNAUTHORIZED',
      create(() => ({})),
      ofGuest,
    ),
    after('COUPON_CODE_TAKEN', async (sql) => {
      const couponCode = newName('TAKEN');
      await sql('insert into coupons (coupon_code, created_by) values ($1, 1)', [couponCode]);
      return (api, options) => api.create({ coupon: { ...terms, couponCode } }, options);
    }),
    after(
      'INVALID_REQUEST',
      create(() => ({ validTill: 'someday' })),
    ),
  ],
  Update: [
    after(
      'TWO_DISCOUNTS',
      update(() => oneDiscount),
      ofRecord,
    ),
    after(
      'APPLICABLE_USERS_REQUIRED',
      async (sql, { isGuarded }) => {
        const id = await addCoupon(sql);
        await sql('delete from coupon_applicable_users where coupon_id = $1', [id]);
        const etag = await etagOf(sql, 'coupons', id, isGuarded);
        return (api, options) =>
          api.update({ id, etag, updates: { coupon: { isUserBased: true, minOrder: 3 } } }, options);
      },
      ofRecord,
    ),
    after(
      'APPLICABLE_USERS_NOT_FOUND',
      update((at) => ({ applicableUsers: withUnknownId(at) }), { isInvalidated: true }),
      ofThreeOfRecord,
    ),
    after(
      'APPLICABLE_PRODUCTS_NOT_FOUND',
      update((at) => ({ applicableProducts: withUnknownId(at) }), { isInvalidated: true }),
      ofThreeOfRecord,
    ),
    plain('COUPON_NOT_FOUND', (api, options) => api.update({ id: missing, updates: { coupon: terms } }, options)),
    after('ETAG_MISMATCH', async (sql) => {
      const id = await addCoupon(sql);
      return (api, options) => api.update({ id, etag: outdated, updates: { coupon: terms } }, options);
    }),
    after(
      'COUPON_CODE_TAKEN',
      async (sql, { isGuarded }) => {
        const [id, other] = [await addCoupon(sql), await addCoupon(sql)];
        const [taken] = await sql<{ code: string }>('select coupon_code as code from coupons where id = $1', [other]);
        const etag = await etagOf(sql, 'coupons', id, isGuarded);
        const coupon = { ...terms, couponCode: taken?.code ?? '' };
        return (api, options) => api.update({ id, etag, updates: { coupon } }, options);
      },
      ofRecord,
    ),
    after(
      'INVALID_REQUEST',
      update(() => ({ couponCode: '' })),
      ofRecord,
    ),
  ],
  Delete: [
    plain('COUPON_NOT_FOUND', (api, options) => api.delete({ id: missing, etag: outdated }, options)),
    after('ETAG_MISMATCH', async (sql) => {
      const id = await addCoupon(sql);
      return (api, options) => api.delete({ id, etag: outdated }, options);
    }),
  ],
  GenerateCancellationCoupon: [
    after('UNAUTHORIZED', refund('select $1'), ofGuest),
    plain('ORDER_NOT_FOUND', (api, options) => api.generateCancellationCoupon({ orderId: missing }, options)),
    after('ORDER_USER_NOT_FOUND', refund('update orders set user_id = null where id = $1')),
    after(
      'ORDER_TOTAL_INVALID',
      // As a row from before the check.
      refund(`alter table orders drop constraint orders_sound; update orders set total_amount = -1 where id = $1;
        alter table orders add constraint orders_sound check (total_amount >= 0 and total_amount < 'Infinity') not valid`),
    ),
    after('COUPON_CODE_TAKEN', refund(`insert into coupons (coupon_code, created_by) select 'USE' || $1, 1`)),
  ],
  CreateReservedCoupon: [
    after(
      'ONE_DISCOUNT_REQUIRED',
      createReserved(() => oneDiscount),
    ),
    after(
      'UNAUTHORIZED',
      createReserved(() => ({})),
      ofGuest,
    ),
    after('SECRET_CODE_TAKEN', async (sql) => {
      const couponCode = await addReserved(sql);
      return (api, options) => api.createReservedCoupon({ coupon: { ...terms, couponCode } }, options);
    }),
    after(
      'APPLICABLE_PRODUCTS_NOT_FOUND',
      createReserved((at) => ({ applicableProducts: withUnknownId(at) })),
      ofThree,
    ),
  ],
  CreateCoupon: [
    plain('INVALID_REQUEST', (api, options) => api.createCoupon({ mobile: '' }, options)),
    plain('UNAUTHORIZED', (api, options) => api.createCoupon({ mobile: '7000000001' }, options), ofGuest),
    plain('MOBILE_NOT_TEN_DIGITS', (api, options) => api.createCoupon({ mobile: '123456789' }, options)),
  ],
};

type Redemptions = Client<typeof RedemptionService>;
async function addReserved(sql: Sql, columns = 'created_by = 1'): Promise<string> {
  const code = newName('SECRET');
  await sql(
    'insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by) values ($1, $1, 5, 1)',
    [code],
  );
  await sql(`update reserved_coupons set ${columns} where secret_code = $1`, [code]);
  return code;
}
const confirm =
  (statement: string): Prepare<Redemptions> =>
  async (sql) => {
    const redemptionId = await addHold(sql);
    await sql(statement, [redemptionId]);
    return (api, options) => api.confirm({ redemptionId }, options);
  };
const claim =
  (userId: number, columns?: string): Prepare<Redemptions> =>
  async (sql) => {
    const secretCode = await addReserved(sql, columns);
    return (api, options) => api.claim({ secretCode, userId }, options);
  };

const redemptionRefusals: Record<string, Refusal<Redemptions>[]> = {
  Redeem: [
    plain('USER_NOT_FOUND', (api, options) =>
      api.redeem({ code: 'NONE', userId: missing, orderKey: newName('order'), orderAmount: 1 }, options),
    ),
    after('ORDER_KEY_TAKEN', async (sql) => {
      const [held] = await sql<{ code: string; order_key: string }>(
        `with coupon as (
           update coupons set is_apply_for_all = true from redemptions
           where redemptions.id = $1 and coupons.id = coupon_id returning coupon_code as code, order_key
         )
         select * from coupon`,
        [await addHold(sql)],
      );
      const request = { code: held?.code ?? '', userId: 2, orderKey: held?.order_key ?? '', orderAmount: 50 };
      return (api, options) => api.redeem(request, options);
    }),
  ],
  Confirm: [
    plain('REDEMPTION_NOT_FOUND', (api, options) => api.confirm({ redemptionId: missing }, options)),
    after(
      'HOLD_EXPIRED',
      confirm(
        `with coupon as (
           update coupons set max_limit_for_user = 1 from redemptions where redemptions.id = $1 and coupons.id = coupon_id
         ),
         other as (
           insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
           select coupon_id, user_id, order_key || '-other', 1, 1, 'USED', now(), now() from redemptions where id = $1
         )
         update redemptions set held_until = now() - interval '1 minute' where id = $1`,
      ),
    ),
    after(
      'REDEMPTION_RELEASED',
      confirm(`update redemptions set state = 'RELEASED', held_until = null, released_at = now() where id = $1`),
    ),
  ],
  Release: [plain('REDEMPTION_NOT_FOUND', (api, options) => api.release({ redemptionId: missing }, options))],
  Claim: [
    after('USER_NOT_FOUND', claim(missing)),
    plain('SECRET_CODE_NOT_FOUND', (api, options) => api.claim({ secretCode: newName('NONE'), userId: 1 }, options)),
    after('SECRET_CODE_CLAIMED', claim(1, 'redeemed_by = 2')),
    after('SECRET_CODE_EXPIRED', claim(1, `valid_till = now() - interval '1 day'`)),
  ],
};

type Batches = Client<typeof CouponBatchService>;
const createBatch =
  (coupon: (at: number) => object): Prepare<Batches> =>
  async (_sql, { at }) =>
  (api, options) =>
    api.createBatch({ count: 3, coupon: { ...terms, ...coupon(at) } }, options);

const batchRefusals: Record<string, Refusal<Batches>[]> = {
  CreateBatch: [
    after(
      'ACCESS_DENIED',
      createBatch(() => ({})),
      ofGuest,
    ),
    ...wrongTerms.map(([reason, coupon, kind]) => after(reason, createBatch(coupon), kind)),
    after(
      'INVALID_REQUEST',
      createBatch(() => ({ couponCode: 'ONE' })),
    ),
  ],
  InvalidateBatch: [
    plain('BATCH_NOT_FOUND', (api, options) => api.invalidateBatch({ id: missing }, options)),
    // Its record is gone, and coupons refer to it still.
    after('BATCH_NOT_FOUND', async (sql) => {
      const id = await addBatch(sql);
      await sql('delete from coupon_batches where id = $1', [id]);
      return (api, options) => api.invalidateBatch({ id }, options);
    }),
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
      return idOf(service.sql, 'select coalesce(max(id), 0)::integer as id from store_refresh_requests');
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
