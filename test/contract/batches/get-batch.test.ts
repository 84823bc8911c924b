import { expect, it } from 'vitest';
import { batchContract, expectError, expectInvalidField } from '../../support/contract.ts';
import { readPages } from '../../support/pages.ts';

batchContract('GetBatch', (api) => {
  const create = async (count: number, coupon: object = {}) =>
    (await api.staff.createBatch({ count, coupon: { flatDiscount: 5, ...coupon } })).batch?.id;

  it('The coupons of a batch are read by id, page by page, with a token of this batch', async () => {
    const [id, other] = [await create(5), await create(1)];
    const codes = await api.sql('select coupon_code from coupons where batch_id = $1 order by id', [id]);
    const first = await api.staff.getBatch({ id, limit: 3 });
    const second = await api.staff.getBatch({ id, pageToken: first.nextPageToken });
    const read = [...first.coupons, ...second.coupons].map(({ couponCode }) => couponCode);
    expect(read).toEqual(codes.map(({ coupon_code }) => coupon_code));
    expect(second.nextPageToken).toBe('');
    await expectInvalidField(api.staff.getBatch({ id: other, pageToken: first.nextPageToken }), 'page_token');
  });

  it('A page ends early where its coupons have very many product ids', async () => {
    const id = await create(3, { productIds: { ids: [1] } });
    // Random ids, which PostgreSQL can't compress.
    await api.sql(
      `update coupons set product_ids = array(select (random() * 2000000000)::integer from generate_series(1, 200000))
       where batch_id = $1`,
      [id],
    );
    const pages = await readPages((pageToken) => api.staff.getBatch({ id, pageToken }));
    expect(pages.map(({ coupons }) => coupons.map(({ productIds }) => productIds?.ids.length))).toEqual(
      Array(3).fill([200_000]),
    );
  });

  it('An unknown batch is not found', async () => {
    await expectError(api.staff.getBatch({ id: 999_999 }), 'BATCH_NOT_FOUND');
    await expectInvalidField(api.staff.getBatch({}), 'id');
  });
});
