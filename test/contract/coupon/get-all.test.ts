import { expect, it } from 'vitest';
import { couponContract } from '../../support/contract.ts';

couponContract('GetAll', (api) => {
  it('Coupons are listed with their creator and their links, invalidated ones too', async () => {
    const { coupon: linked } = await api.staff.create({
      coupon: {
        discountPercent: 0.1,
        isUserBased: true,
        productIds: { ids: [8] },
        applicableUsers: { ids: [1, 3] },
        applicableProducts: { ids: [2] },
        validTill: '2031-01-01',
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

  it('A page ends before its coupons have more than 100,000 product ids and links, and loses no coupon', async () => {
    await api.sql('truncate coupons cascade');
    await api.sql(
      `insert into coupons (id, coupon_code, created_by, created_at, product_ids)
       select id, 'CROWD-' || id, 1, now() + id * interval '1 second',
         case when id = 4 then array(select (random() * 1e9)::integer from generate_series(1, 99985)) end
       from generate_series(1, 4) id`,
    );
    await api.sql(
      'insert into coupon_applicable_users (coupon_id, user_id) select 3, id from generate_series(1, 5) id',
    );
    await api.sql(
      'insert into coupon_applicable_products (coupon_id, product_id) select 2, id from generate_series(1, 15) id',
    );
    const pages: number[][] = [];
    let pageToken = '';
    do {
      const page = await api.guest.getAll({ pageToken });
      pages.push(page.coupons.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(pages).toEqual([
      [4, 3],
      [2, 1],
    ]);
  });
});
