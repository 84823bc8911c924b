import { randomUUID } from 'node:crypto';
import { type DescService, fromJson, fromJsonString, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { type Client, Code, createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { ImportService } from '../../../shared/gen/catalog/v1/import_service_pb.ts';
import { CouponBatchService } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotPlanService } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService, UpdateDeliverySequenceRequestSchema } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { isMutation } from '../../../shared/rpc/procedure.ts';
import { addSlot as addCountedSlot, newOrderKey } from '../../support/bookings.ts';
import {
  type Api,
  batchContract,
  bookingContract,
  couponContract,
  expectError,
  expectInvalidField,
  failureOf,
  importContract,
  planContract,
  redemptionContract,
  slotContract,
} from '../../support/contract.ts';
import { holding } from '../../support/locks.ts';
import {
  addSlot,
  batchMutations,
  bookingMutations,
  couponMutations,
  importMutations,
  type Mutations,
  planMutations,
  redemptionMutations,
  slotMutations,
} from '../../support/mutations.ts';
import { post } from '../../support/post.ts';
import { protocols } from '../../support/protocols.ts';
import { addCouponOf, newOrder } from '../../support/redemptions.ts';
import { signToken, withToken } from '../../support/tokens.ts';

/** The headers of a response, from a call with a key. */
async function withHeaders<Answer>(key: string, call: (options: object) => Promise<Answer>) {
  let headers = new Headers();
  const answer = await call({
    headers: { 'idempotency-key': key },
    onHeader: (received: Headers) => {
      headers = received;
    },
  });
  return { answer, headers };
}

/** How many rows each table has that a mutation writes, and how far the sequences have come whose ids can run out. */
async function counts(api: Pick<Api<DescService>, 'sql'>) {
  const tables = [
    ...['slots', 'product_slots', 'vendor_snippets', 'coupons', 'reserved_coupons', 'users', 'audit_entries'],
    ...['redemptions', 'coupon_batches'],
  ];
  const [row] = await api.sql<Record<string, string>>(
    `select ${tables.map((table) => `(select count(*) from ${table}) as ${table}`).join()}`,
  );
  const sequences = await api.sql(
    `select sequencename, last_value from pg_sequences where data_type = 'integer'::regtype and not cycle`,
  );
  return { ...row, sequences };
}

function testMutations<Service extends DescService>(
  api: Api<Service>,
  desc: Service,
  mutations: Mutations<Client<Service>>,
): void {
  it('Every mutation of the service is tested', () => {
    const expected = desc.methods.filter(isMutation).map(({ name }) => name);
    expect(Object.keys(mutations).sort()).toEqual(expected.sort());
  });

  it.each(Object.entries(mutations))(
    '%s with the same key again gives the same answer, writes nothing and draws no id',
    async (_name, prepare) => {
      const mutation = await prepare(api.sql);
      const key = randomUUID();
      const first = await withHeaders(key, (options) => mutation.call(api.staff, options));
      const before = await counts(api);
      const second = await withHeaders(key, (options) => mutation.call(api.staff, options));
      expect(second.answer).toEqual(first.answer);
      expect(first.headers.get('idempotent-replayed')).toBeNull();
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect(second.headers.get('store-request-id')).toBe(first.headers.get('store-request-id'));
      expect(await counts(api)).toEqual(before);
    },
  );

  it.each(Object.entries(mutations))('%s with the key of another request is refused', async (_name, prepare) => {
    const mutation = await prepare(api.sql);
    const options = { headers: { 'idempotency-key': randomUUID() } };
    await mutation.call(api.staff, options);
    const before = await counts(api);
    await expectError(mutation.callOtherwise(api.staff, options), 'IDEMPOTENCY_KEY_REUSED');
    expect(await counts(api)).toEqual(before);
    // A replay is nothing to look into.
    expect(api.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it.each(Object.entries(mutations))('%s twice at once with one key is executed once', async (_name, prepare) => {
    const mutation = await prepare(api.sql);
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => withHeaders(key, (options) => mutation.call(api.staff, options))),
    );
    for (const { answer } of answers) expect(answer).toEqual(answers[0]?.answer);
    expect(answers.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);
    const [entries] = await api.sql<{ count: string }>(
      'select count(*) from audit_entries where request_id = any($1)',
      [answers.map(({ headers }) => headers.get('x-request-id'))],
    );
    expect(Number(entries?.count)).toBe(mutation.changes.length);
  });

  it.each(Object.entries(mutations))('%s is replayed to every protocol', async (_name, prepare) => {
    const mutation = await prepare(api.sql);
    const key = randomUUID();
    const first = await mutation.call(api.staff, { headers: { 'idempotency-key': key } });
    for (const protocol of protocols) {
      const { transport, close } = protocol.open(api.ports);
      const client = createClient(desc, withToken(transport, await signToken({ staffId: 1 })));
      const { answer, headers } = await withHeaders(key, (options) => mutation.call(client, options)).finally(close);
      expect(answer).toEqual(first);
      expect(headers.get('idempotent-replayed')).toBe('true');
    }
  });
}

slotContract('Idempotency keys of slot mutations', (api) => {
  testMutations(api, SlotService, slotMutations);

  it.each(['json', 'proto'])('A replay is the same as the answer, byte for byte, as %s', async (codec) => {
    const [token, id] = [await signToken({ staffId: 1 }), await addSlot(api.sql)];
    const json = `{"id":${id},"deliverySequence":{"10":[1e21,0.1,-0],"name":{"é":[null,"\\""]},"2":[]}}`;
    const body =
      codec === 'json'
        ? json
        : toBinary(UpdateDeliverySequenceRequestSchema, fromJsonString(UpdateDeliverySequenceRequestSchema, json));
    const headers = { 'content-type': `application/${codec}`, 'idempotency-key': randomUUID() };
    const answers = [];
    for (let n = 0; n < 2; n += 1) {
      const response = await post(api.ports.webPort, 'UpdateDeliverySequence', token, body, headers);
      answers.push({ status: response.status, bytes: Buffer.from(await response.arrayBuffer()).toString('latin1') });
    }
    expect(answers[0]?.status).toBe(200);
    expect(answers[1]).toEqual(answers[0]);
  });

  it('Maps that differ in a name with a dollar sign are two requests', async () => {
    const id = await addSlot(api.sql);
    const key = randomUUID();
    const update = (json: JsonValue) =>
      withHeaders(key, (options) =>
        api.staff.updateDeliverySequence({ id, deliverySequence: fromJson(ValueSchema, json) }, options),
      );
    await update({ $typeName: [1] });
    await expectError(update({ $typeName: [2] }), 'IDEMPOTENCY_KEY_REUSED');
  });

  it.each<[JsonValue, JsonValue]>([
    [null, 0],
    ['1', 1],
    [[], {}],
    [{ a: null }, { a: 0 }],
    [
      [1, 2],
      [2, 1],
    ],
    [true, 'true'],
  ])('The sequences %j and %j are two requests', async (first, second) => {
    const id = await addSlot(api.sql);
    const options = { headers: { 'idempotency-key': randomUUID() } };
    const update = (json: JsonValue) =>
      api.staff.updateDeliverySequence({ id, deliverySequence: fromJson(ValueSchema, json) }, options);
    await update(first);
    await expectError(update(second), 'IDEMPOTENCY_KEY_REUSED');
  });

  it('Lists of ids in another order are the same request', async () => {
    const slotId = await addSlot(api.sql);
    const key = randomUUID();
    const update = (productIds: number[]) =>
      withHeaders(key, (options) => api.staff.updateSlotProducts({ slotId, productIds }, options));
    await update([3, 1]);
    expect((await update([1, 3])).headers.get('idempotent-replayed')).toBe('true');
  });

  it('A map whose keys come in another order is the same request', async () => {
    const id = await addSlot(api.sql);
    const key = randomUUID();
    const update = (json: JsonValue) =>
      withHeaders(key, (options) =>
        api.staff.updateDeliverySequence({ id, deliverySequence: fromJson(ValueSchema, json) }, options),
      );
    await update({ b: [1], a: [2] });
    const { headers } = await update({ a: [2], b: [1] });
    expect(headers.get('idempotent-replayed')).toBe('true');
  });

  it('The stores show a write with a key to a read that carries its store-request-id', async () => {
    const slotId = await addSlot(api.sql);
    const { headers } = await withHeaders(randomUUID(), (options) =>
      api.staff.updateSlotProducts({ slotId, productIds: [7] }, options),
    );
    const stores = createClient(SlotStoreService, api.transportAs('staff'));
    const storeRequestId = headers.get('store-request-id') ?? '';
    const options = { headers: { 'store-request-id': storeRequestId } };
    const { slots } = await stores.getProductSlots({ productIds: [7] }, options);
    expect(slots[7]?.slots.map(({ id }) => id)).toContain(slotId);
  });
});

planContract('Idempotency keys of plans', (api) => {
  testMutations(api, SlotPlanService, planMutations);
});

redemptionContract('Idempotency keys of redemptions', (api) => {
  testMutations(api, RedemptionService, redemptionMutations);

  it('A refusal is not stored for its key, and once there is room the call with the key is carried out', async () => {
    const { id, code } = await addCouponOf(api.sql, { max_limit_for_user: 1, is_invalidated: true });
    const [key, order] = [randomUUID(), newOrder()];
    const redeem = () => withHeaders(key, (options) => api.guest.redeem({ code, ...order }, options));
    const refused = await redeem();
    expect(refused.answer).toMatchObject({ valid: false, message: 'Coupon not found or invalidated' });
    expect(refused.headers.has('idempotent-replayed')).toBe(false);
    await api.sql('update coupons set is_invalidated = false where id = $1', [id]);
    const redeemed = await redeem();
    expect(redeemed.answer).toMatchObject({ valid: true });
    expect(redeemed.headers.has('idempotent-replayed')).toBe(false);
    await api.sql('update coupons set is_invalidated = true where id = $1', [id]);
    const replayed = await redeem();
    expect(replayed.answer).toEqual(redeemed.answer);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
  });

  it('A redemption that is repeated with its key after its release gets the same answer and draws no id', async () => {
    const { code } = await addCouponOf(api.sql);
    const [key, order] = [randomUUID(), newOrder()];
    const redeem = () => withHeaders(key, (options) => api.guest.redeem({ code, ...order }, options));
    const { answer } = await redeem();
    await api.guest.release({ redemptionId: answer.redemption?.id ?? 0 });
    const before = await counts(api);
    expect((await redeem()).answer).toEqual(answer);
    expect(await counts(api)).toEqual(before);
  });

  it('A call that would be refused by now gets the answer that is stored for its key', async () => {
    const { id, code } = await addCouponOf(api.sql);
    const [key, order] = [randomUUID(), newOrder()];
    const redeem = (orderAmount: number) =>
      withHeaders(key, (options) => api.guest.redeem({ code, ...order, orderAmount }, options));
    const lastRefusal = () => api.log.findLast(({ msg }) => msg === 'call')?.refusal;
    const first = await redeem(100);
    await api.sql('update coupons set is_invalidated = true where id = $1', [id]);
    await api.guest.redeem({ code, ...order, orderKey: `${order.orderKey}-2` });
    expect(lastRefusal()).toBe('NOT_FOUND');
    await api.sql(`update redemptions set state = 'RELEASED', released_at = now(), held_until = null`);
    expect((await redeem(100)).answer).toEqual(first.answer);
    expect(lastRefusal()).toBeUndefined();
    await expectError(redeem(99), 'IDEMPOTENCY_KEY_REUSED');
  });
});

bookingContract('Idempotency keys of bookings', (api) => {
  testMutations(api, SlotBookingService, bookingMutations);

  it('A refusal is not stored for its key, and once there is room the call with the key is carried out', async () => {
    const slotId = await addCountedSlot(api.sql, { capacity: 1 });
    const { booking } = await api.guest.book({ slotId, orderKey: newOrderKey() });
    const [key, orderKey] = [randomUUID(), newOrderKey()];
    const book = () => withHeaders(key, (options) => api.guest.book({ slotId, orderKey }, options));
    expect((await book()).answer).toMatchObject({ booked: false });
    await api.guest.release({ bookingId: booking?.id });
    const booked = await book();
    expect(booked.answer).toMatchObject({ booked: true });
    expect(booked.headers.has('idempotent-replayed')).toBe(false);
    const replayed = await book();
    expect(replayed.answer).toEqual(booked.answer);
    expect(replayed.headers.get('store-request-id')).toBe(booked.headers.get('store-request-id'));
    expect(booked.headers.get('store-request-id')).toMatch(/./);
  });
});

importContract('Idempotency keys of imports', (api) => {
  testMutations(api, ImportService, importMutations);
});

batchContract('Idempotency keys of batches', (api) => {
  testMutations(api, CouponBatchService, batchMutations);
});

couponContract('Idempotency keys of coupon mutations', (api) => {
  testMutations(api, CouponService, couponMutations);

  const create = (key: string, options: { readonly couponCode?: string; readonly client?: typeof api.staff } = {}) => {
    const { couponCode, client = api.staff } = options;
    return withHeaders(key, (given) =>
      client.create({ coupon: { flatDiscount: 1, isApplyForAll: true, ...(couponCode && { couponCode }) } }, given),
    );
  };

  it.each(['', 'a key', 'x'.repeat(129)])('The key %j is refused', async (key) => {
    await expectInvalidField(create(key), 'idempotency-key');
  });

  it('A key of 128 characters is taken', async () => {
    const { headers } = await create('~'.repeat(128));
    expect(headers.has('idempotent-replayed')).toBe(false);
  });

  it('A key is refused before the staff identity is looked at', async () => {
    const call = (client: typeof api.staff) =>
      client.createCoupon({ mobile: '1' }, { headers: { 'idempotency-key': ' ' } });
    await expectInvalidField(call(api.guest), 'idempotency-key');
  });

  it('A query ignores its key', async () => {
    const options = { headers: { 'idempotency-key': 'x'.repeat(200) } };
    const { valid } = await api.staff.validate({ code: 'NONE', userId: 1, orderAmount: 1 }, options);
    expect(valid).toBe(false);
  });

  it('A key is good for the staff identity that it was first sent with', async () => {
    const key = randomUUID();
    const asStaff = async (staffId: number) => api.as(await signToken({ staffId, subject: 'one' }));
    await create(key, { client: await asStaff(1) });
    await expectError(create(key, { client: await asStaff(2) }), 'IDEMPOTENCY_KEY_REUSED');
  });

  it('A key is good for one caller and one procedure', async () => {
    const key = randomUUID();
    const other = api.as(await signToken({ staffId: 1, subject: 'another' }));
    await create(key);
    const { headers } = await create(key, { client: other });
    expect(headers.has('idempotent-replayed')).toBe(false);
    const { headers: ofReserved } = await withHeaders(key, (options) =>
      api.staff.createReservedCoupon({ coupon: { flatDiscount: 1 } }, options),
    );
    expect(ofReserved.has('idempotent-replayed')).toBe(false);
  });

  it('A call that failed does not keep its key', async () => {
    const [key, couponCode] = [randomUUID(), randomUUID()];
    const { answer } = await create(randomUUID(), { couponCode });
    await failureOf(create(key, { couponCode }));
    await api.sql('delete from coupons where coupon_code = $1', [couponCode]);
    const { answer: second, headers } = await create(key, { couponCode });
    expect(headers.has('idempotent-replayed')).toBe(false);
    expect(second).not.toEqual(answer);
  });

  it.each([undefined, 4242])('A caller with the staff id %s, of no staff user, gets no replay', async (staffId) => {
    const key = randomUUID();
    const stranger = api.as(await signToken({ staffId }));
    const createCoupon = (client: typeof api.staff) =>
      withHeaders(key, (options) => client.createCoupon({ mobile: '9000000002' }, options));
    for (const call of [createCoupon, (client: typeof api.staff) => create(key, { client })]) {
      await call(api.staff);
      expect((await failureOf(call(stranger))).rawMessage).toBe('Unauthorized');
    }
  });

  it('Lists that differ in repeats only are one request', async () => {
    const key = randomUUID();
    const call = (ids: number[]) =>
      withHeaders(key, (options) =>
        api.staff.create({ coupon: { flatDiscount: 1, applicableUsers: { ids } } }, options),
      );
    await call([1, 2]);
    const { headers } = await call([1, 2, 1]);
    expect(headers.get('idempotent-replayed')).toBe('true');
  });

  /** SQL of what a call with a key does last. */
  const inUse = (key: string) => `insert into idempotency_keys (id, request, answer)
    values (sha256(convert_to('${JSON.stringify(['tester', 'coupon.v1.CouponService/Create', key])}', 'UTF8')), '', '')`;

  it.each([
    ['rollback', { code: 'AlreadyExists', message: 'Coupon code already exists', reason: 'COUPON_CODE_TAKEN' }],
    ['commit', 'IDEMPOTENCY_KEY_REUSED'],
  ] as const)('A call that fails while its key is in use waits for the %s of the other call', async (end, expected) => {
    const [key, couponCode] = [randomUUID(), randomUUID()];
    await create(randomUUID(), { couponCode });
    await holding(api.databaseUrl, inUse(key), async (lock) => {
      const waiting = create(key, { couponCode });
      await lock.untilAwaited();
      await Promise.all([lock.release(end), expectError(waiting, expected)]);
    });
  });

  it('A call whose key is in use waits for the other call, within its deadline', async () => {
    const key = randomUUID();
    const couponCode = randomUUID();
    await holding(api.databaseUrl, inUse(key), async (lock) => {
      const late = api.staff.create(
        { coupon: { flatDiscount: 1, couponCode } },
        { headers: { 'idempotency-key': key }, timeoutMs: 300 },
      );
      expect(Code[(await failureOf(late)).code]).toBe('DeadlineExceeded');
      // The service gives up after its caller: until then it would store its answer once the lock is free.
      await expect.poll(() => lock.waiting()).toBe(0);
      const waiting = create(key, { couponCode });
      await lock.untilAwaited();
      await lock.release('rollback');
      expect((await waiting).headers.has('idempotent-replayed')).toBe(false);
    });
  });
});
