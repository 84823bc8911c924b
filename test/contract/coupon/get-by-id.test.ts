import { expect, it } from 'vitest';
import { couponContract, expectError } from '../../support/contract.ts';

couponContract('GetById', (api) => {
  it('A coupon has its creator, users and products', async () => {
    const { coupon: created } = await api.staff.create({
      coupon: {
        ...{ discountPercent: 10, isUserBased: true, productIds: { ids: [8] }, applicableUsers: { ids: [1, 3] } },
        applicableProducts: { ids: [2] },
      },
    });
    await api.sql(`update users set email = null where id = 3`);
    const { coupon } = await api.guest.getById({ id: created?.id ?? 0 });
    const { $typeName: _, ...record } = created ?? {};
    expect(coupon).toMatchObject(record);
    expect(coupon?.creator).toMatchObject({ id: 1, name: 'Asha Menon' });
    expect(coupon?.productIds?.ids).toEqual([8]);
    expect(coupon?.applicableUsers).toMatchObject([
      { id: 1, name: 'User 1', email: 'user1@example.com', mobile: '9000000001' },
      { id: 3, mobile: '9000000003' },
    ]);
    expect(coupon?.applicableUsers[1]?.name).toBeUndefined();
    expect(coupon?.applicableUsers[1]?.email).toBeUndefined();
    expect(coupon?.applicableProducts).toMatchObject([
      { id: 2, name: 'Product 2', images: ['https://images.example/2.jpg'] },
    ]);
  });

  it('A coupon without links has empty lists, and no product ids', async () => {
    const { coupon: created } = await api.staff.create({ coupon: { discountPercent: 10 } });
    const { coupon } = await api.staff.getById({ id: created?.id ?? 0 });
    expect(coupon?.applicableUsers).toEqual([]);
    expect(coupon?.applicableProducts).toEqual([]);
    expect(coupon?.productIds).toBeUndefined();
  });

  it('A coupon that does not exist is not found', async () => {
    await expectError(api.staff.getById({ id: 99_999 }), 'COUPON_NOT_FOUND');
    await expectError(api.staff.getById({ id: 0 }), 'COUPON_NOT_FOUND');
  });

  it('A coupon with so many users that it is read alone has all of them', async () => {
    const { coupon: created } = await api.staff.create({ coupon: { discountPercent: 10 } });
    const id = created?.id ?? 0;
    await api.sql(`with added as (
        insert into users (mobile) select 'many ' || n from generate_series(1, 1500) n returning id
      )
      insert into coupon_applicable_users (coupon_id, user_id) select ${id}, id from added`);
    const { coupon } = await api.staff.getById({ id });
    expect(coupon?.applicableUsers).toHaveLength(1500);
    expect(coupon?.creator).toMatchObject({ id: 1, name: 'Asha Menon' });
    await api.sql(`delete from users where mobile like 'many %'`);
  });
});
