import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import type { CreateBatchRequestSchema } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { batchContract, expectError, expectInvalidField } from '../../support/contract.ts';
import { idOf } from '../../support/database.ts';
import { whileHeld } from '../../support/locks.ts';
import { entriesOf } from '../../support/redemptions.ts';
import { signToken } from '../../support/tokens.ts';

type Request = Omit<MessageInitShape<typeof CreateBatchRequestSchema>, '$typeName'>;
type Body = NonNullable<Request['coupon']>;

batchContract('CreateBatch', (api) => {
  const create = (count: number, coupon: Body = { flatDiscount: 5 }, request: Request = {}) =>
    api.staff.createBatch({ count, coupon, ...request });
  const codesOf = async (id: number | undefined) =>
    (
      await api.sql<{ coupon_code: string }>('select coupon_code from coupons where batch_id = $1 order by id', [id])
    ).map((coupon) => coupon.coupon_code);

  it('A batch has as many coupons with the terms, the users and the products, and codes of their own', async () => {
    // That each coupon has every other field is what coupon/carried-fields.test.ts says.
    const coupon = {
      ...{ discountPercent: 12.5, isUserBased: true, productIds: { ids: [7] } },
      ...{ applicableUsers: { ids: [2, 1] }, applicableProducts: { ids: [4, 3] } },
    };
    const { batch } = await create(25, coupon, { name: 'Spring', prefix: 'SPRING-', codeLength: 8 });
    expect(batch).toMatchObject({ name: 'Spring', count: 25, invalidated: 0, createdBy: 1 });
    const codes = await codesOf(batch?.id);
    expect(new Set(codes).size).toBe(25);
    for (const code of codes) expect(code).toMatch(/^SPRING-[B-DF-HJKMNP-TV-Z2-9]{8}$/);
    const { coupons, batch: read, nextPageToken } = await api.staff.getBatch({ id: batch?.id });
    expect(read).toEqual(batch);
    expect(nextPageToken).toBe('');
    expect(coupons.map(({ couponCode }) => couponCode)).toEqual(codes);
    for (const made of coupons) {
      expect(made).toMatchObject({
        ...{ isUserBased: true, isApplyForAll: false, isInvalidated: false, batchId: batch?.id, createdBy: 1 },
        ...{ discountPercent: '12.5', productIds: { ids: [7] } },
      });
    }
    expect(new Set(coupons.map(({ etag }) => etag)).size).toBe(25);
    const records = createClient(CouponService, api.transportAs('staff'));
    const { coupon: detail } = await records.getById({ id: coupons[24]?.id });
    expect(detail?.batchId).toBe(batch?.id);
    expect(detail?.applicableUsers.map(({ id }) => id)).toEqual([1, 2]);
    expect(detail?.applicableProducts.map(({ id }) => id)).toEqual([3, 4]);
    const [listed] = (await records.getAll({ batchId: batch?.id })).coupons;
    expect(listed?.batchId).toBe(batch?.id);
    expect(await entriesOf(api, 'coupon_batch', batch?.id)).toMatchObject([
      {
        procedure: 'coupon.v1.CouponBatchService/CreateBatch',
        before: undefined,
        after: {
          ...{ name: 'Spring', count: 25, discountPercent: '12.5', applicableUsers: [1, 2] },
          applicableProducts: [3, 4],
        },
      },
    ]);
    expect(await entriesOf(api, 'coupon', coupons[0]?.id)).toEqual([]);
  });

  it('Without a name, prefix and length, codes have 10 characters', async () => {
    const { batch } = await create(1, { flatDiscount: 1, isApplyForAll: true, couponCode: '' });
    expect(batch?.name).toBe('');
    expect((await codesOf(batch?.id))[0]).toMatch(/^[B-DF-HJKMNP-TV-Z2-9]{10}$/);
  });

  it('10,000 coupons are created in one call, and ended in one', async () => {
    const { batch } = await create(10_000);
    expect(new Set(await codesOf(batch?.id)).size).toBe(10_000);
    expect(await api.staff.invalidateBatch({ id: batch?.id })).toMatchObject({
      ...{ invalidated: 10_000, batch: { count: 10_000, invalidated: 10_000 } },
    });
  });

  it('Coupons with as many links as a batch may have are created together, and not with one more each', async () => {
    await api.sql(
      `insert into products (id, name) select n, 'p' from generate_series(1001, 2200) n on conflict do nothing`,
    );
    const ids = Array.from({ length: 1_200 }, (_id, n) => 1_001 + n);
    const coupon = { flatDiscount: 5, applicableProducts: { ids } };
    await expectInvalidField(create(84, coupon), 'count');
    const { batch } = await create(83, coupon);
    const [counts] = await api.sql(
      `select count(distinct coupon_id)::integer as coupons, count(*)::integer as links
       from coupon_applicable_products join coupons on coupons.id = coupon_id where batch_id = $1`,
      [batch?.id],
    );
    expect(counts).toEqual({ coupons: 83, links: 99_600 });
  });

  const body: Body = { flatDiscount: 5 };
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

  it('A staff user who is deleted meanwhile is refused', async () => {
    const staffId = await idOf(api.sql, `insert into staff_users (name) values ('Leaver') returning id`);
    const leaver = api.as(await signToken({ staffId }));
    const leave = `delete from staff_users where id = ${staffId}`;
    const create = () => leaver.createBatch({ count: 1, coupon: { flatDiscount: 5 } });
    await expectError(whileHeld(api.databaseUrl, leave, create), 'ACCESS_DENIED');
  });

  it('The longest codes have a prefix of 16 and 32 characters', async () => {
    const { batch } = await create(2, body, { prefix: 'ABCDEFGH-0123456', codeLength: 32 });
    for (const code of await codesOf(batch?.id)) expect(code).toHaveLength(48);
  });
});
