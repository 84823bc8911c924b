import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeAll, expect, it } from 'vitest';
import { couponContract, expectError } from '../../support/contract.ts';

// Rows from before the constraints that keep them out.
couponContract('A coupon with values that no answer can show', (api) => {
  beforeAll(async () => {
    await api.sql(
      `alter table coupons drop constraint coupons_sound; alter table orders drop constraint orders_sound;
      alter table orders drop constraint orders_total_amount_check;
      insert into coupons (id, coupon_code, created_by, is_apply_for_all, flat_discount, max_value, product_ids, valid_till, created_at) values
        (901, 'SOUND', 1, true, 5, 9, '{1}', '2100-01-01Z', '2026-01-01Z'),
        (902, 'ODD', 1, true, 'Infinity', 'NaN', '{1,null,3}', 'infinity', 'infinity'),
        (903, 'ODDER', 1, true, 5, null, '[0:1]={{1},{2}}', '10000-01-01Z', '-infinity');
      insert into orders (id, user_id, total_amount) values (1, 1, 'Infinity'), (2, 1, -50), (3, 1, 'NaN'), (4, 1, 0)`.replace(
        "'[0:1]={{1},{2}}'",
        "'{{1},{2}}'",
      ),
    );
  });

  it('A listing shows the rest of them, page by page', async () => {
    const { coupons } = await api.staff.getAll({});
    expect(coupons.map(({ id }) => id)).toEqual([902, 901, 903]);
    expect(coupons[0]).toMatchObject({ couponCode: 'ODD', productIds: { ids: [1, 3] }, isApplyForAll: true });
    for (const field of ['flatDiscount', 'maxValue', 'validTill', 'createdAt'] as const) {
      expect(coupons[0]?.[field], field).toBeUndefined();
      if (field !== 'maxValue') expect(coupons[1]?.[field], field).toBeDefined();
    }
    expect(coupons[2]).toMatchObject({ productIds: { ids: [1, 2] } });
    expect(coupons[2]?.validTill).toBeUndefined();
    const ids: number[] = [];
    for (let pageToken = ''; ids.length < 9; ) {
      const page = await api.staff.getAll({ limit: 1, pageToken });
      ids.push(...page.coupons.map(({ id }) => id));
      pageToken = page.nextPageToken;
      if (pageToken === '') break;
    }
    expect(ids).toEqual([902, 901, 903]);
  });

  it('GetById shows the rest of one', async () => {
    const { coupon } = await api.staff.getById({ id: 902 });
    expect(coupon).toMatchObject({ id: 902, productIds: { ids: [1, 3] } });
    expect((await api.staff.getById({ id: 901 })).coupon?.validTill).toEqual(timestampFromDate(new Date('2100-01-01')));
  });

  it('Validate counts an amount that is none as not set', async () => {
    expect(await api.guest.validate({ code: 'ODD', userId: 1, orderAmount: 100 })).toMatchObject({
      valid: true,
      discountAmount: 0,
    });
  });

  it.each([1, 2, 3])('An order whose total is no amount of 0 or more gets no refund: %s', async (orderId) => {
    await expectError(api.staff.generateCancellationCoupon({ orderId }), {
      code: 'FailedPrecondition',
      message: 'The total of this order is no amount of 0 or more',
      reason: 'ORDER_TOTAL_INVALID',
    });
  });

  it('An order with a total of 0 gets its refund', async () => {
    await api.sql('delete from coupons where id < 900');
    expect((await api.staff.generateCancellationCoupon({ orderId: 4 })).coupon?.flatDiscount).toBe('0');
  });
});
