import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { batchContract } from '../../support/contract.ts';
import { entriesOf } from '../../support/redemptions.ts';

batchContract('InvalidateBatch', (api) => {
  const create = async (count: number) =>
    (await api.staff.createBatch({ count, coupon: { flatDiscount: 5 } })).batch?.id;

  it('To end a batch invalidates the coupons that are still valid, once', async () => {
    const id = await create(4);
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
});
