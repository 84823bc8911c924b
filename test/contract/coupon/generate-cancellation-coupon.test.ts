import { expect, it } from 'vitest';
import { couponContract, expectError } from '../../support/contract.ts';
import { idOf } from '../../support/database.ts';

couponContract('GenerateCancellationCoupon', (api) => {
  const addOrder = (userId: number | null, amount = '1499.50') =>
    idOf(
      api.sql,
      `with placed as (insert into orders (user_id, total_amount) values ($1, $2) returning id),
         statuses as (insert into order_statuses (order_id) select id from placed, generate_series(1, 2))
       select id from placed`,
      [userId, amount],
    );
  const addUser = async (name: string | null) => {
    const [user] = await api.sql<{ id: number; mobile: string }>(
      `insert into users (name, mobile) values ($1, lpad(nextval('users_id_seq')::text, 10, '8')) returning id, mobile`,
      [name],
    );
    return user ?? { id: 0, mobile: '' };
  };
  const refundOf = async (orderId: number) =>
    (await api.sql('select refund_coupon_id from order_statuses where order_id = $1', [orderId])).map(
      (status) => status.refund_coupon_id,
    );

  it("The coupon is worth the order's total, belongs to its user and is valid for 30 days", async () => {
    const orderId = await addOrder(1);
    const { coupon } = await api.staff.generateCancellationCoupon({ orderId });
    expect(coupon).toMatchObject({
      ...{ couponCode: `USE${orderId}`, isUserBased: true, flatDiscount: '1499.50', minOrder: '1499.50' },
      ...{ maxValue: '1499.50', maxLimitForUser: 1, isApplyForAll: false, exclusiveApply: false },
      ...{ isInvalidated: false, createdBy: 1 },
    });
    expect(coupon?.discountPercent).toBeUndefined();
    const [{ validTill, createdAt } = { validTill: undefined, createdAt: undefined }] = coupon ? [coupon] : [];
    expect(Number(validTill?.seconds) - Number(createdAt?.seconds)).toBe(30 * 24 * 3600);
    const users = await api.sql('select user_id from coupon_applicable_users where coupon_id = $1', [coupon?.id]);
    expect(users).toEqual([{ user_id: 1 }]);
    expect(await refundOf(orderId)).toEqual([coupon?.id, coupon?.id]);
  });

  it.each([
    ['jo', 'JO'],
    ['straße', 'STR'],
    ['ßabc', 'SSAB'],
    ['👩‍👩‍👧‍👦🇮🇳é́xyz', '👩‍👩‍👧‍👦🇮🇳É́'],
    ['e\u0301tienne', '\u00c9TI'],
    ['நிலா', 'நிலா'],
    ['𝒜𝒷𝒸𝒹', '𝒜𝒷𝒸'],
  ])('Rule 4: the code begins with the first three characters of %s', async (name, start) => {
    const orderId = await addOrder((await addUser(name)).id);
    const { coupon } = await api.staff.generateCancellationCoupon({ orderId });
    expect(coupon?.couponCode).toBe(`${start}${orderId}`);
  });

  it.each([null, ''])('Rule 4: the code of a user without a name begins with the mobile number', async (name) => {
    const user = await addUser(name);
    const orderId = await addOrder(user.id);
    const { coupon } = await api.staff.generateCancellationCoupon({ orderId });
    expect(coupon?.couponCode).toBe(`${user.mobile.slice(0, 3)}${orderId}`);
  });

  it('Rule 4: the code of a user with neither name nor mobile number begins with USR', async () => {
    const user = await addUser(null);
    await api.sql(`update users set mobile = '' where id = $1`, [user.id]);
    const orderId = await addOrder(user.id);
    const { coupon } = await api.staff.generateCancellationCoupon({ orderId });
    expect(coupon?.couponCode).toBe(`USR${orderId}`);
    await api.sql(`update users set mobile = $2 where id = $1`, [user.id, user.mobile]);
  });

  it('Rule 1: a caller without a staff identity is refused before the order is looked up', async () => {
    await expectError(api.guest.generateCancellationCoupon({ orderId: 99_999 }), 'UNAUTHORIZED');
  });

  it('Rule 2: an order with the id 0 is not found', async () => {
    await expectError(api.staff.generateCancellationCoupon({ orderId: 0 }), 'ORDER_NOT_FOUND');
  });

  it('Rule 4: a second coupon for an order is refused, and the order keeps the first', async () => {
    const orderId = await addOrder(1);
    const { coupon } = await api.staff.generateCancellationCoupon({ orderId });
    await expectError(api.staff.generateCancellationCoupon({ orderId }), 'COUPON_CODE_TAKEN');
    expect(await refundOf(orderId)).toEqual([coupon?.id, coupon?.id]);
  });

  it('Rule 5: the coupon is undone when the order status cannot be written', async () => {
    const orderId = await addOrder(1);
    await api.sql(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger refuse before update on order_statuses for each row execute function refuse()`);
    try {
      const call = api.staff.generateCancellationCoupon({ orderId });
      await expectError(call, 'INTERNAL');
    } finally {
      await api.sql('drop function refuse cascade');
    }
    expect(await api.sql('select 1 from coupons where coupon_code = $1', [`USE${orderId}`])).toEqual([]);
  });

  it('Of two concurrent calls for an order, one issues the coupon', async () => {
    for (let round = 0; round < 5; round += 1) {
      const orderId = await addOrder(2);
      const calls = await Promise.allSettled([1, 2].map(() => api.staff.generateCancellationCoupon({ orderId })));
      expect(calls.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const lost = calls.find((call) => call.status === 'rejected');
      await expectError(Promise.reject(lost?.reason), 'COUPON_CODE_TAKEN');
      const issued = await api.sql('select id from coupons where coupon_code = $1', [`USE${orderId}`]);
      expect(issued).toHaveLength(1);
      expect(await refundOf(orderId)).toEqual([issued[0]?.id, issued[0]?.id]);
    }
  });
});
