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
});
