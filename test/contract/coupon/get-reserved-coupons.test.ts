import { expect, it } from 'vitest';
import { couponContract } from '../../support/contract.ts';

couponContract('GetReservedCoupons', (api) => {
  it('Reserved coupons are listed with their creator and the user who redeemed them', async () => {
    const { reservedCoupon: open } = await api.staff.createReservedCoupon({
      coupon: { discountPercent: 0.1, productIds: { ids: [] }, couponCode: 'OPEN' },
    });
    const { reservedCoupon: redeemed } = await api.staff.createReservedCoupon({ coupon: { flatDiscount: 1e15 } });
    await api.sql('update reserved_coupons set redeemed_by = 3 where id = $1', [redeemed?.id]);
    const { coupons } = await api.guest.getReservedCoupons({});
    const creator = { id: 1, name: 'Asha Menon' };
    const { $typeName: _, ...record } = open ?? {};
    expect(coupons).toMatchObject([
      { id: redeemed?.id, creator, flatDiscount: '1000000000000000', redeemedUser: { id: 3, mobile: '9000000003' } },
      { ...record, creator },
    ]);
    expect(coupons[0]?.redeemedUser?.name).toBeUndefined();
    expect(coupons[1]?.redeemedUser).toBeUndefined();
  });

  it('A search finds the secret code and the coupon code', async () => {
    await api.sql(`insert into reserved_coupons (secret_code, coupon_code, created_by)
      values ('left-1', 'right-1', 1), ('right-2', 'left-2', 1), ('neither', 'nor', 1)`);
    const found = async (search: string) =>
      (await api.guest.getReservedCoupons({ search })).coupons.map(({ secretCode }) => secretCode).sort();
    expect(await found('LEFT')).toEqual(['left-1', 'right-2']);
    expect(await found('t-')).toEqual(['left-1', 'right-2']);
    expect(await found('right-1')).toEqual(['left-1']);
  });
});
