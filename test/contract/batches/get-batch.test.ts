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

  it('What was used of all coupons of a batch is summed up if it is asked for, whatever the page', async () => {
    const [id, other] = [await create(3), await create(1)];
    await api.sql(
      `insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at)
       select id, 1, 'o' || id, 10, 2.50, case when batch_id = $2 then 'USED' else state end, now()
       from coupons, unnest(array['USED', 'RELEASED']) as state where batch_id in ($1, $2)`,
      [id, other],
    );
    const { uses, discountGiven } = await api.staff.getBatch({ id, limit: 1, withUsage: true });
    expect([uses, discountGiven]).toEqual([3, '7.5']);
    const { uses: none } = await api.staff.getBatch({ id });
    expect(none).toBeUndefined();
    const unused = await api.staff.getBatch({ id: await create(1), withUsage: true });
    expect([unused.uses, unused.discountGiven]).toEqual([0, '0']);
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
