import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import type { CreateBatchRequestSchema } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { accessDenied, batchContract, expectError, expectInvalidField } from '../../support/contract.ts';
import { entriesOf } from '../../support/redemptions.ts';

type Request = Omit<MessageInitShape<typeof CreateBatchRequestSchema>, '$typeName'>;
type Body = NonNullable<Request['coupon']>;

const notFound = { code: 'NotFound', message: 'Batch not found', reason: 'BATCH_NOT_FOUND' } as const;

batchContract('Coupon batches', (api) => {
  const create = (count: number, coupon: Body = { flatDiscount: 5 }, request: Request = {}) =>
    api.staff.createBatch({ count, coupon, ...request });
  const codesOf = async (id: number | undefined) =>
    (
      await api.sql<{ coupon_code: string }>('select coupon_code from coupons where batch_id = $1 order by id', [id])
    ).map((coupon) => coupon.coupon_code);
  const couponCount = async () => (await api.sql('select count(*) from coupons, coupon_batches'))[0];

  it('A batch has as many coupons with the terms, the users and the products, and codes of their own', async () => {
    const terms = { discountPercent: 12.5, minOrder: 100, maxValue: 50, maxLimitForUser: 2, exclusiveApply: true };
    const coupon = {
      ...terms,
      ...{ isUserBased: true, validTill: '2090-01-01', productIds: { ids: [7] } },
      ...{ applicableUsers: { ids: [2, 1] }, applicableProducts: { ids: [4, 3] } },
    };
    const { batch } = await create(25, coupon, { name: 'Spring', prefix: 'SPRING-', codeLength: 8 });
    expect(batch).toMatchObject({ name: 'Spring', count: 25, invalidated: 0, createdBy: 1 });
    const codes = await codesOf(batch?.id);
    expect(new Set(codes).size).toBe(25);
    for (const code of codes) expect(code).toMatch(/^SPRING-[A-HJKMNP-Z2-9]{8}$/);
    const { coupons, batch: read, nextPageToken } = await api.staff.getBatch({ id: batch?.id });
    expect(read).toEqual(batch);
    expect(nextPageToken).toBe('');
    expect(coupons.map(({ couponCode }) => couponCode)).toEqual(codes);
    for (const made of coupons) {
      expect(made).toMatchObject({
        ...{ isUserBased: true, isApplyForAll: false, isInvalidated: false, batchId: batch?.id, createdBy: 1 },
        ...{ discountPercent: '12.5', minOrder: '100', maxValue: '50', maxLimitForUser: 2, exclusiveApply: true },
        productIds: { ids: [7] },
      });
    }
    expect(new Set(coupons.map(({ etag }) => etag)).size).toBe(25);
    const coupons1 = createClient(CouponService, api.transportAs('staff'));
    const { coupon: detail } = await coupons1.getById({ id: coupons[24]?.id });
    expect(detail?.batchId).toBe(batch?.id);
    expect(detail?.applicableUsers.map(({ id }) => id)).toEqual([1, 2]);
    expect(detail?.applicableProducts.map(({ id }) => id)).toEqual([3, 4]);
    const [listed] = (await coupons1.getAll({ batchId: batch?.id })).coupons;
    expect(listed?.batchId).toBe(batch?.id);
    expect(await entriesOf(api, 'coupon_batch', batch?.id)).toMatchObject([
      {
        procedure: 'coupon.v1.CouponBatchService/CreateBatch',
        before: undefined,
        after: {
          name: 'Spring',
          count: 25,
          discountPercent: '12.5',
          applicableUsers: [1, 2],
          applicableProducts: [3, 4],
        },
      },
    ]);
    expect(await entriesOf(api, 'coupon', coupons[0]?.id)).toEqual([]);
  });

  it('Without a name, prefix and length, codes have 10 characters', async () => {
    const { batch } = await create(1, { flatDiscount: 1, isApplyForAll: true, couponCode: '' });
    expect(batch?.name).toBe('');
    expect((await codesOf(batch?.id))[0]).toMatch(/^[A-HJKMNP-Z2-9]{10}$/);
  });

  it('10,000 coupons are created in one call, and ended in one', async () => {
    const { batch } = await create(10_000);
    expect(new Set(await codesOf(batch?.id)).size).toBe(10_000);
    expect(await api.staff.invalidateBatch({ id: batch?.id })).toMatchObject({
      ...{ invalidated: 10_000, batch: { count: 10_000, invalidated: 10_000 } },
    });
  });

  const body: Body = { flatDiscount: 5 };
  it.each<[string, Body, object]>([
    [
      'ONE_DISCOUNT_REQUIRED',
      {},
      { message: 'Either discountPercent or flatDiscount must be provided (but not both)' },
    ],
    [
      'APPLICABLE_USERS_OR_ALL_REQUIRED',
      { ...body, isUserBased: true },
      { message: 'applicableUsers is required for user-based coupons (or set isApplyForAll to true)' },
    ],
    [
      'USER_BASED_AND_FOR_ALL',
      { ...body, isUserBased: true, isApplyForAll: true },
      { message: 'Cannot be both user-based and apply for all users' },
    ],
    [
      'APPLICABLE_USERS_NOT_FOUND',
      { ...body, applicableUsers: { ids: [1, 999] }, applicableProducts: { ids: [999] } },
      { message: 'Some applicable users not found' },
    ],
    [
      'APPLICABLE_PRODUCTS_NOT_FOUND',
      { ...body, applicableProducts: { ids: [1, 999] } },
      { message: 'Some applicable products not found' },
    ],
  ])("Create's rule holds: %s. Nothing is created", async (reason, coupon, { message }: { message?: string }) => {
    const before = await couponCount();
    await expectError(create(2, coupon), { code: 'InvalidArgument', message: message ?? '', reason });
    expect(await couponCount()).toEqual(before);
  });

  it.each<[string, Body, Request]>([
    ['coupon.coupon_code', { ...body, couponCode: 'GIVEN' }, {}],
    ['count', body, { count: 0 }],
    ['count', body, { count: 10_001 }],
    ['prefix', body, { prefix: 'lower' }],
    ['prefix', body, { prefix: 'A'.repeat(17) }],
    ['code_length', body, { codeLength: 7 }],
    ['code_length', body, { codeLength: 33 }],
    ['name', body, { name: 'n'.repeat(129) }],
    [
      'count',
      { ...body, applicableUsers: { ids: [1] }, productIds: { ids: Array.from({ length: 100 }, (_id, n) => n) } },
      { count: 9_901 },
    ],
  ])('%s is refused where it is out of bounds', async (field, coupon, request) => {
    await expectInvalidField(create(1, coupon, request), field);
  });

  it('The longest codes have a prefix of 16 and 32 characters', async () => {
    const { batch } = await create(2, body, { prefix: 'ABCDEFGH-0123456', codeLength: 32 });
    for (const code of await codesOf(batch?.id)) expect(code).toHaveLength(48);
  });

  it('Batches are listed newest first, page by page', async () => {
    const made: (number | undefined)[] = [];
    for (let batch = 0; batch < 3; batch += 1) made.push((await create(1)).batch?.id);
    const first = await api.staff.listBatches({ limit: 2 });
    expect(first.batches.map(({ id }) => id)).toEqual([made[2], made[1]]);
    const second = await api.staff.listBatches({ limit: 1, pageToken: first.nextPageToken });
    expect(second.batches.map(({ id }) => id)).toEqual([made[0]]);
    await expectInvalidField(api.staff.listBatches({ limit: 0 }), 'limit');
    await expectInvalidField(api.staff.listBatches({ pageToken: 'x' }), 'page_token');
  });

  it('The coupons of a batch are read by id, page by page, with a token of this batch', async () => {
    const [{ batch }, { batch: other }] = [await create(5), await create(1)];
    const codes = await codesOf(batch?.id);
    const first = await api.staff.getBatch({ id: batch?.id, limit: 3 });
    const second = await api.staff.getBatch({ id: batch?.id, pageToken: first.nextPageToken });
    const read = [...first.coupons, ...second.coupons].map(({ couponCode }) => couponCode);
    expect(read).toEqual(codes);
    expect(second.nextPageToken).toBe('');
    await expectInvalidField(api.staff.getBatch({ id: other?.id, pageToken: first.nextPageToken }), 'page_token');
  });

  it('A page ends early where its coupons have very many product ids', async () => {
    const { batch } = await create(3, { ...body, productIds: { ids: [1] } });
    // Random ids, which PostgreSQL can't compress.
    await api.sql(
      `update coupons set product_ids = array(select (random() * 2000000000)::integer from generate_series(1, 200000))
       where batch_id = $1`,
      [batch?.id],
    );
    const sizes: number[] = [];
    for (let pageToken = ''; ; ) {
      const page = await api.staff.getBatch({ id: batch?.id, pageToken });
      sizes.push(page.coupons.length);
      for (const { productIds } of page.coupons) expect(productIds?.ids).toHaveLength(200_000);
      pageToken = page.nextPageToken;
      if (pageToken === '') break;
    }
    expect(sizes).toEqual([1, 1, 1]);
  });

  it('To end a batch invalidates the coupons that are still valid, once', async () => {
    const { batch } = await create(4);
    const id = batch?.id;
    const coupons = createClient(CouponService, api.transportAs('staff'));
    const [first, second] = (await api.staff.getBatch({ id })).coupons;
    await coupons.delete({ id: first?.id });
    await coupons.delete({ id: first?.id });
    await coupons.update({ id: second?.id, updates: { isInvalidated: true } });
    await coupons.update({ id: second?.id, updates: { isInvalidated: false } });
    expect((await api.staff.getBatch({ id })).batch?.invalidated).toBe(1);
    const etags = (await api.staff.getBatch({ id })).coupons.map(({ etag }) => etag);
    const ended = await api.staff.invalidateBatch({ id });
    expect(ended).toMatchObject({ invalidated: 3, batch: { id, count: 4, invalidated: 4 } });
    const read = await api.staff.getBatch({ id });
    expect(read.batch).toEqual(ended.batch);
    expect(read.coupons.map(({ isInvalidated }) => isInvalidated)).toEqual([true, true, true, true]);
    expect(read.coupons.map(({ etag }, index) => etag === etags[index])).toEqual([true, false, false, false]);
    expect(await api.staff.invalidateBatch({ id })).toMatchObject({ invalidated: 0, batch: { invalidated: 4 } });
    const entries = await entriesOf(api, 'coupon_batch', id);
    expect(entries.slice(1)).toEqual([
      {
        procedure: 'coupon.v1.CouponBatchService/InvalidateBatch',
        before: { invalidated: 1 },
        after: { invalidated: 4 },
      },
    ]);
  });

  it('An unknown batch is not found', async () => {
    await expectError(api.staff.getBatch({ id: 999_999 }), notFound);
    await expectError(api.staff.invalidateBatch({ id: 999_999 }), notFound);
    await expectInvalidField(api.staff.getBatch({}), 'id');
    await expectInvalidField(api.staff.invalidateBatch({}), 'id');
  });

  it('All of it is for staff only', async () => {
    await expectError(api.guest.createBatch({ count: 1, coupon: {} }), accessDenied);
    await expectError(api.guest.getBatch({ id: 1 }), accessDenied);
    await expectError(api.guest.listBatches({}), accessDenied);
    await expectError(api.guest.invalidateBatch({ id: 1 }), accessDenied);
  });
});
