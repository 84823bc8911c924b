import { expect, it } from 'vitest';
import { couponContract, expectInvalidField } from '../../support/contract.ts';

couponContract('GetAll', (api) => {
  it('Coupons are listed with their creator and their links, invalidated ones too', async () => {
    const { coupon: linked } = await api.staff.create({
      coupon: {
        ...{ discountPercent: 0.1, isUserBased: true, productIds: { ids: [8] }, applicableUsers: { ids: [1, 3] } },
        ...{ applicableProducts: { ids: [2] }, validTill: '2031-01-01' },
      },
    });
    const { coupon: plain } = await api.staff.create({ coupon: { flatDiscount: 12.5 } });
    await api.staff.delete({ id: plain?.id ?? 0 });
    const { coupons, nextCursor, nextPageToken } = await api.guest.getAll({});
    expect({ nextCursor, nextPageToken }).toEqual({ nextCursor: undefined, nextPageToken: '' });
    const { $typeName: _, ...record } = linked ?? {};
    expect(coupons).toMatchObject([
      { id: plain?.id, isInvalidated: true, flatDiscount: '12.5', applicableUsers: [], applicableProducts: [] },
      { ...record, creator: { id: 1, name: 'Asha Menon' } },
    ]);
    const [first, second] = coupons;
    expect(first?.productIds).toBeUndefined();
    const couponId = linked?.id;
    expect(second?.applicableUsers).toMatchObject([
      { couponId, userId: 1, user: { id: 1, name: 'User 1', email: 'user1@example.com', mobile: '9000000001' } },
      { couponId, userId: 3, user: { id: 3, email: 'user3@example.com', mobile: '9000000003' } },
    ]);
    expect(second?.applicableUsers[1]?.user?.name).toBeUndefined();
    expect(second?.applicableProducts).toMatchObject([
      { couponId, productId: 2, product: { id: 2, name: 'Product 2', images: ['https://images.example/2.jpg'] } },
    ]);
    const ids = await api.sql('select id from coupon_applicable_users where coupon_id = $1 order by id', [couponId]);
    expect(second?.applicableUsers.map(({ id }) => id)).toEqual(ids.map(({ id }) => id));
  });

  it('A coupon shows 100 product ids, user links and product links, and how many there are; GetById shows all', async () => {
    await api.sql('truncate coupons cascade');
    await api.sql(
      `insert into users (id, mobile) select n, n from generate_series(1001, 1101) n;
       insert into products (id, name) select n, 'Product ' || n from generate_series(1001, 1102) n;
       insert into coupons (id, coupon_code, created_by, product_ids)
         values (1, 'CROWD', 1, array(select generate_series(1, 103))), (2, 'NONE', 1, null);
       insert into coupon_applicable_users (coupon_id, user_id) select 1, n from generate_series(1101, 1001, -1) n;
       insert into coupon_applicable_products (coupon_id, product_id) select 1, n from generate_series(1001, 1102) n`,
    );
    const { coupons } = await api.staff.getAll({});
    const [crowd, none] = coupons.toSorted((left, right) => left.id - right.id);
    const first = (from: number) => Array.from({ length: 100 }, (_, n) => from + n);
    expect(crowd).toMatchObject({ productIdsCount: 103, applicableUsersCount: 101, applicableProductsCount: 102 });
    expect(crowd?.productIds?.ids).toEqual(first(1));
    expect(crowd?.applicableUsers.map(({ userId }) => userId)).toEqual(first(1001).reverse());
    expect(crowd?.applicableProducts.map(({ productId }) => productId)).toEqual(first(1001));
    expect(none).toMatchObject({ productIdsCount: 0, applicableUsersCount: 0, applicableProductsCount: 0 });
    const { coupon } = await api.staff.getById({ id: 1 });
    expect(coupon?.productIds?.ids).toHaveLength(103);
    expect(coupon?.applicableUsers).toHaveLength(101);
    expect(coupon?.applicableProducts).toHaveLength(102);
  });

  it('The coupons of a batch are listed page by page, also searched, and with a token of this batch only', async () => {
    await api.sql('truncate coupons cascade');
    await api.sql(
      `insert into coupons (id, coupon_code, created_by, batch_id) select n, 'CODE' || n, 1, n % 2 from generate_series(1, 12) n;
       insert into coupon_applicable_users (coupon_id, user_id) select n, 1 from generate_series(1, 6) n`,
    );
    const idsOf = async (request: object) => (await api.staff.getAll(request)).coupons.map(({ id }) => id);
    const { coupons, nextPageToken } = await api.staff.getAll({ batchId: 1, limit: 4 });
    expect(coupons.map(({ id, batchId }) => [id, batchId])).toEqual([11, 9, 7, 5].map((id) => [id, 1]));
    expect(await idsOf({ batchId: 1, pageToken: nextPageToken })).toEqual([3, 1]);
    expect(await idsOf({ batchId: 0, search: 'code1' })).toEqual([12, 10]);
    expect(await idsOf({ batchId: 1, userId: 1 })).toEqual([5, 3, 1]);
    expect(await idsOf({ batchId: 2 })).toEqual([]);
    await expectInvalidField(idsOf({ batchId: 0, pageToken: nextPageToken }), 'page_token');
    await expectInvalidField(idsOf({ pageToken: nextPageToken }), 'page_token');
  });

  it('The coupons of no batch are listed page by page, also searched, of a user, and with a token of these only', async () => {
    await api.sql('truncate coupons cascade');
    await api.sql(
      `insert into coupons (id, coupon_code, created_by, batch_id)
         select n, 'CODE' || n, 1, case n % 2 when 1 then 1 end from generate_series(1, 12) n;
       insert into coupon_applicable_users (coupon_id, user_id) select n, 1 from generate_series(1, 6) n`,
    );
    const idsOf = async (request: object) =>
      (await api.staff.getAll({ withoutBatch: true, ...request })).coupons.map(({ id }) => id);
    const { coupons, nextPageToken } = await api.staff.getAll({ withoutBatch: true, limit: 4 });
    expect(coupons.map(({ id }) => id)).toEqual([12, 10, 8, 6]);
    expect(await idsOf({ pageToken: nextPageToken })).toEqual([4, 2]);
    expect(await idsOf({ search: 'code1' })).toEqual([12, 10]);
    expect(await idsOf({ search: 'code11' })).toEqual([]);
    expect(await idsOf({ userId: 1 })).toEqual([6, 4, 2]);
    expect(await idsOf({ userId: 1, search: '4' })).toEqual([4]);
    expect(await idsOf({ batchId: 1 })).toEqual([]);
    await expectInvalidField(idsOf({ withoutBatch: false, pageToken: nextPageToken }), 'page_token');
    for (const [request, total] of [
      [{}, 12],
      [{ withoutBatch: true }, 6],
      [{ withoutBatch: true, search: 'code1' }, 2],
      [{ search: 'code1' }, 4],
      [{ userId: 1, withoutBatch: true }, 3],
      [{ batchId: 1, search: 'code1' }, 2],
    ] as const) {
      expect((await api.staff.getAll({ ...request, limit: 1, withTotal: true })).total, JSON.stringify(request)).toBe(
        total,
      );
    }
  });
});
