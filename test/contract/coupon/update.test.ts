import { timestampDate } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { couponContract, expectError, expectInvalidField, failureOf } from '../../support/contract.ts';

couponContract('Update', (api) => {
  const full = {
    ...{ discountPercent: 10, minOrder: 100, maxValue: 50, productIds: { ids: [1, 2] }, validTill: '2031-01-01' },
    ...{ maxLimitForUser: 2, exclusiveApply: true, isApplyForAll: true },
  };
  type Body = NonNullable<Parameters<typeof api.staff.create>[0]['coupon']>;
  const created = async (coupon: Body = full) => {
    const response = await api.staff.create({ coupon });
    if (response.coupon === undefined) throw new Error('no coupon');
    return response.coupon;
  };
  const links = async (id: number) => {
    const { coupon } = await api.staff.getById({ id });
    return {
      users: coupon?.applicableUsers.map((user) => user.id),
      products: coupon?.applicableProducts.map((product) => product.id),
    };
  };
  const update = async (id: number, coupon: Body, rest: { isInvalidated?: boolean } = {}) =>
    (await api.staff.update({ id, updates: { coupon, ...rest } })).coupon;

  it.each([{}, { updates: {} }, { updates: { coupon: {} } }])(
    'An update without changes returns the record unchanged',
    async (request) => {
      const before = await created();
      const { coupon } = await api.guest.update({ id: before.id, ...request });
      expect(coupon).toEqual(before);
    },
  );

  it.each<[Body, object]>([
    [{ couponCode: 'RENAMED' }, { couponCode: 'RENAMED' }],
    [{ discountPercent: 0.1 }, { discountPercent: '0.1' }],
    [
      { discountPercent: 0, flatDiscount: 7 },
      { discountPercent: '0', flatDiscount: '7' },
    ],
    [{ flatDiscount: 1e15 }, { flatDiscount: '1000000000000000', discountPercent: '10' }],
    [{ minOrder: 0 }, { minOrder: '0' }],
    [{ maxValue: 1e-7 }, { maxValue: '0.0000001' }],
    [{ isApplyForAll: false }, { isApplyForAll: false }],
    [{ maxLimitForUser: 9 }, { maxLimitForUser: 9 }],
    [{ exclusiveApply: false }, { exclusiveApply: false }],
    [{ isUserBased: true, applicableUsers: { ids: [1] } }, { isUserBased: true }],
    [{ clearProductIds: true }, { productIds: undefined }],
    [{ validTill: '' }, { validTill: undefined }],
    [{ targetUser: 3 }, {}],
  ])('An update changes only the fields that it gives: %j', async (updates, changed) => {
    await api.sql(`delete from coupons where coupon_code = 'RENAMED'`);
    const before = await created();
    const after = await update(before.id, updates);
    expect(after).toEqual({ ...before, ...changed, etag: after?.etag });
    expect(await update(before.id, {})).toEqual(after);
  });

  it('An update replaces product ids, also by an empty list, and dates', async () => {
    const { id } = await created();
    expect((await update(id, { productIds: { ids: [] } }))?.productIds?.ids).toEqual([]);
    expect((await update(id, { productIds: { ids: [7] } }))?.productIds?.ids).toEqual([7]);
    const dated = await update(id, { validTill: '2032-05-06' });
    expect(dated?.validTill && timestampDate(dated.validTill)).toEqual(new Date('2032-05-06T00:00:00Z'));
  });

  it('An update sets and clears the invalidation', async () => {
    const { id } = await created();
    expect((await update(id, {}, { isInvalidated: true }))?.isInvalidated).toBe(true);
    expect((await update(id, { maxLimitForUser: 1 }))?.isInvalidated).toBe(true);
    expect((await update(id, {}, { isInvalidated: false }))?.isInvalidated).toBe(false);
  });

  it('Rule 1: two discounts in one update are refused, but one beside a stored one is not', async () => {
    const { id } = await created();
    const call = api.staff.update({ id, updates: { coupon: { discountPercent: 1, flatDiscount: 1 } } });
    await expectError(call, 'TWO_DISCOUNTS');
    expect(await update(id, { flatDiscount: 3 })).toMatchObject({ discountPercent: '10', flatDiscount: '3' });
  });

  it('Rule 2: a user-based coupon needs users, in the update or linked already', async () => {
    const { id } = await created();
    const userBased = (users?: number[]) =>
      api.staff.update({
        id,
        updates: { coupon: { isUserBased: true, ...(users && { applicableUsers: { ids: users } }) } },
      });
    await expectError(userBased(), 'APPLICABLE_USERS_REQUIRED');
    await expectError(userBased([]), 'APPLICABLE_USERS_REQUIRED');
    await userBased([2]);
    expect((await userBased()).coupon?.isUserBased).toBe(true);
    // To the letter of the spec: links that this update removes still count as existing.
    await userBased([]);
    expect((await links(id)).users).toEqual([]);
    await expectError(userBased(), 'APPLICABLE_USERS_REQUIRED');
  });

  it('Rule 5: a coupon that does not exist is not found, after rules 1 to 3', async () => {
    await expectError(api.staff.update({ id: 99_999 }), 'COUPON_NOT_FOUND');
    await expectError(api.staff.update({ id: 0, updates: { coupon: { minOrder: 1 } } }), 'COUPON_NOT_FOUND');
    const links = { applicableUsers: { ids: [1] }, applicableProducts: { ids: [1] } };
    await expectError(api.staff.update({ id: 99_999, updates: { coupon: links } }), 'COUPON_NOT_FOUND');
    const message = async (coupon: Body) =>
      (await failureOf(api.staff.update({ id: 99_999, updates: { coupon } }))).rawMessage;
    const both = { discountPercent: 1, flatDiscount: 1, isUserBased: true };
    expect(await message(both)).toBe('Cannot have both discountPercent and flatDiscount');
    expect(await message({ isUserBased: true })).toBe('applicableUsers is required for user-based coupons');
    expect(await message({ applicableUsers: { ids: [999] } })).toBe('Some applicable users not found');
  });

  it('Rule 6: lists of users and products replace the links, also when they are empty', async () => {
    const { id } = await created({ ...full, applicableUsers: { ids: [1, 2] }, applicableProducts: { ids: [1, 2] } });
    await update(id, { minOrder: 1 });
    expect(await links(id)).toEqual({ users: [1, 2], products: [1, 2] });
    await update(id, { applicableUsers: { ids: [3, 2, 3] } });
    expect(await links(id)).toEqual({ users: [2, 3], products: [1, 2] });
    await update(id, { applicableProducts: { ids: [] } });
    expect(await links(id)).toEqual({ users: [2, 3], products: [] });
    await update(id, { applicableUsers: { ids: [] }, applicableProducts: { ids: [9, 9] } });
    expect(await links(id)).toEqual({ users: [], products: [9] });
  });

  it('Rule 6: of two concurrent replacements of the links, one is stored as a whole', async () => {
    const { id } = await created({ ...full, applicableUsers: { ids: [1, 2] } });
    const sets = [
      [1, 3],
      [2, 4, 5],
    ];
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(sets.map((ids) => update(id, { applicableUsers: { ids }, applicableProducts: { ids } })));
      const { users, products } = await links(id);
      const sorted = users?.sort();
      expect(sets).toContainEqual(sorted);
      expect(products?.sort()).toEqual(sorted);
    }
  });

  it('The code of another coupon is refused, but not its own', async () => {
    const first = await created({ flatDiscount: 1, couponCode: 'FIRST' });
    const second = await created({ flatDiscount: 1, couponCode: 'SECOND' });
    const call = api.staff.update({ id: second.id, updates: { coupon: { couponCode: 'FIRST', minOrder: 5 } } });
    await expectError(call, 'COUPON_CODE_TAKEN');
    expect((await update(first.id, { couponCode: 'FIRST' }))?.couponCode).toBe('FIRST');
    expect((await api.staff.getById({ id: second.id })).coupon).toMatchObject({ couponCode: 'SECOND' });
  });

  it.each([
    ['coupon_code', { couponCode: '' }],
    ['coupon_code', { couponCode: 'x'.repeat(129) }],
    ['valid_till', { validTill: '31/31/2031' }],
    ['min_order', { minOrder: -1 }],
    ['flat_discount', { flatDiscount: Number.NaN }],
  ])('The type of %s is checked before the rules', async (field, coupon) => {
    const broken = { ...coupon, isUserBased: true };
    await expectInvalidField(api.staff.update({ id: 99_999, updates: { coupon: broken } }), `updates.coupon.${field}`);
  });
});
