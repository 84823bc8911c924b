import { expect, it } from 'vitest';
import { couponContract } from '../../support/contract.ts';

couponContract('Delete', (api) => {
  it('A coupon is invalidated and keeps its record, also when it is deleted again', async () => {
    const { coupon } = await api.staff.create({ coupon: { discountPercent: 10 } });
    const id = coupon?.id ?? 0;
    for (let times = 0; times < 2; times += 1) {
      expect((await api.guest.delete({ id })).message).toBe('Coupon invalidated successfully');
      expect((await api.guest.getById({ id })).coupon).toMatchObject({ id, isInvalidated: true });
    }
  });
});
