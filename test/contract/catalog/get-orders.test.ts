import { createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { expectInvalidField, slotContract } from '../../support/contract.ts';

slotContract('GetOrders', (api) => {
  const catalog = () => createClient(CatalogService, api.transportAs('staff'));
  const read = async (orderIds: number[]) => (await catalog().getOrders({ orderIds })).orders;
  const idsOf = async (orderIds: number[]) => (await read(orderIds)).map(({ id }) => id);

  beforeAll(async () => {
    // Totals from before the constraints that keep them out.
    await api.sql(`alter table orders drop constraint orders_sound; alter table orders drop constraint orders_total_amount_check;
      insert into orders (id, user_id, total_amount) values (1, 1, 120.50), (2, 3, 0), (3, null, 7),
        (11, 1, -1), (12, 1, 'NaN'), (13, 1, 'Infinity');
      insert into orders (id, total_amount) select 1000 + n, n from generate_series(1, 1000) n;
      insert into coupons (id, coupon_code, created_by) values (51, 'USE1', 1), (52, 'USE2', 1);
      insert into order_statuses (order_id) values (2);
      insert into order_statuses (order_id, refund_coupon_id) values (3, 52), (3, 51), (3, null)`);
  });

  it('The orders of the ids are shown with their user and total, by id', async () => {
    const [first, second, third] = await read([3, 2, 1]);
    expect(first).toMatchObject({
      id: 1,
      user: { id: 1, name: 'User 1', mobile: '9000000001' },
      totalAmount: '120.50',
    });
    expect(second).toMatchObject({ id: 2, user: { id: 3, name: 'Unknown', mobile: '9000000003' }, totalAmount: '0' });
    expect(third).toMatchObject({ id: 3, totalAmount: '7' });
    expect(third?.user).toBeUndefined();
  });

  it('An order is shown once, whatever statuses it has, with its latest refund coupon', async () => {
    const orders = await read([1, 2, 3]);
    expect(orders.map(({ id, refundCouponId, refundCouponCode }) => [id, refundCouponId, refundCouponCode])).toEqual([
      [1, undefined, undefined],
      [2, undefined, undefined],
      [3, 52, 'USE2'],
    ]);
  });

  it('An order has the key of the business where it has one', async () => {
    await api.sql(`update orders set external_id = 'A-1' where id = 1`);
    expect((await read([1, 2])).map(({ externalId }) => externalId)).toEqual(['A-1', undefined]);
  });

  it('A total that is no amount of 0 or more is left out', async () => {
    const orders = await read([11, 12, 13]);
    expect(orders.map(({ id, totalAmount }) => [id, totalAmount])).toEqual([
      [11, undefined],
      [12, undefined],
      [13, undefined],
    ]);
  });

  it('An id that no order has is left out', async () => {
    expect(await idsOf([2, 4, 0, -1, 2147483647, -2147483648])).toEqual([2]);
    expect(await idsOf([4])).toEqual([]);
    expect(await idsOf([])).toEqual([]);
  });

  it('The requested ids are taken as a set, of which 1,000 can be requested at once', async () => {
    expect(await idsOf([...Array<number>(1500).fill(2), 1])).toEqual([1, 2]);
    const orderIds = Array.from({ length: 1000 }, (_, index) => 1001 + index);
    expect(await idsOf(orderIds)).toEqual(orderIds);
    await expectInvalidField(catalog().getOrders({ orderIds: [...orderIds, 1] }), 'order_ids');
  });
});
