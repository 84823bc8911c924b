import { timestampDate } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { couponContract, expectError, expectInvalidField, failureOf } from '../../support/contract.ts';
import { signToken } from '../../support/tokens.ts';

const oneDiscount = 'Either discountPercent or flatDiscount must be provided (but not both)';
const usersOrAll = 'applicableUsers is required for user-based coupons (or set isApplyForAll to true)';
const notBoth = 'Cannot be both user-based and apply for all users';
const usersNotFound = 'Some applicable users not found';

couponContract('Create', (api) => {
  const countCoupons = async () => (await api.sql('select count(*) from coupons'))[0]?.count;

  it('A coupon is stored with its links, and the response has the record', async () => {
    const { coupon } = await api.staff.create({
      coupon: {
        ...{ couponCode: 'ALL-FIELDS', isUserBased: true, discountPercent: 12.5, minOrder: 100, targetUser: 4 },
        ...{ productIds: { ids: [3, 1, 3] }, applicableUsers: { ids: [2, 1, 2] } },
        ...{ applicableProducts: { ids: [5, 4, 4] }, maxValue: 999999.99, isApplyForAll: false },
        ...{ validTill: '2031-01-02T03:04:05Z', maxLimitForUser: 3, exclusiveApply: true },
      },
    });
    expect(coupon).toMatchObject({
      ...{ couponCode: 'ALL-FIELDS', isUserBased: true, discountPercent: '12.5', minOrder: '100' },
      ...{ maxValue: '999999.99', isApplyForAll: false, maxLimitForUser: 3, exclusiveApply: true },
      ...{ isInvalidated: false, createdBy: 1 },
    });
    expect(coupon?.flatDiscount).toBeUndefined();
    expect(coupon?.productIds?.ids).toEqual([3, 1]);
    expect(coupon?.validTill && timestampDate(coupon.validTill)).toEqual(new Date('2031-01-02T03:04:05Z'));
    expect(coupon?.createdAt && Math.abs(timestampDate(coupon.createdAt).getTime() - Date.now())).toBeLessThan(60_000);
    const users = 'select user_id from coupon_applicable_users where coupon_id = $1 order by 1';
    expect(await api.sql(users, [coupon?.id])).toEqual([{ user_id: 1 }, { user_id: 2 }]);
    const products = 'select product_id from coupon_applicable_products where coupon_id = $1 order by 1';
    expect(await api.sql(products, [coupon?.id])).toEqual([{ product_id: 4 }, { product_id: 5 }]);
  });

  it('The record leaves out the fields that were not given', async () => {
    const { coupon } = await api.staff.create({ coupon: { flatDiscount: 50, validTill: '' } });
    expect(coupon).toMatchObject({ isUserBased: false, isApplyForAll: false, exclusiveApply: false });
    const { discountPercent, minOrder, maxValue, productIds, validTill, maxLimitForUser } = coupon ?? {};
    const absent = { discountPercent, minOrder, maxValue, productIds, validTill, maxLimitForUser };
    expect(Object.values(absent).every((value) => value === undefined)).toBe(true);
  });

  it('An empty list of product ids differs from none', async () => {
    const { coupon: empty } = await api.staff.create({ coupon: { flatDiscount: 1, productIds: { ids: [] } } });
    expect(empty?.productIds?.ids).toEqual([]);
    const { coupon: none } = await api.staff.create({ coupon: { flatDiscount: 1, clearProductIds: true } });
    expect(none?.productIds).toBeUndefined();
    const both = { flatDiscount: 1, clearProductIds: true, productIds: { ids: [1] } };
    expect((await failureOf(api.staff.create({ coupon: both }))).rawMessage).toContain('clear_product_ids');
  });

  it.each([
    [0.1, '0.1'],
    [12.5, '12.5'],
    [100, '100'],
    [999999.99, '999999.99'],
    [1e-7, '0.0000001'],
    [1e15, '1000000000000000'],
    [1e21, '1000000000000000000000'],
    [0, '0'],
    [-0, '0'],
    [1.005, '1.005'],
  ])('An amount of %d is returned as %s', async (given, text) => {
    const { coupon } = await api.staff.create({ coupon: { flatDiscount: 1, minOrder: given, maxValue: given } });
    expect(coupon).toMatchObject({ flatDiscount: '1', minOrder: text, maxValue: text });
  });

  it.each([{}, { discountPercent: 10, flatDiscount: 5 }, { discountPercent: 0, flatDiscount: 0 }, { flatDiscount: 0 }])(
    'Rule 1: a coupon without exactly one discount is refused: %j',
    async (coupon) => void (await expectError(api.staff.create({ coupon }), 'ONE_DISCOUNT_REQUIRED')),
  );

  const userBased = { discountPercent: 5, isUserBased: true };
  it.each([{}, { applicableUsers: { ids: [] } }, { isApplyForAll: false }])(
    'Rule 2: a user-based coupon without users is refused: %j',
    async (users) => {
      await expectError(api.staff.create({ coupon: { ...userBased, ...users } }), 'APPLICABLE_USERS_OR_ALL_REQUIRED');
    },
  );

  it.each([{}, { applicableUsers: { ids: [1] } }])(
    'Rule 3: a coupon that is user-based and for all users is refused: %j',
    async (users) => {
      const coupon = { ...userBased, isApplyForAll: true, ...users };
      await expectError(api.staff.create({ coupon }), 'USER_BASED_AND_FOR_ALL');
    },
  );

  it.each([true, false])('Rule 4: users that do not exist are refused, user-based: %s', async (isUserBased) => {
    const coupon = { discountPercent: 5, isUserBased, applicableUsers: { ids: [1, 999] } };
    await expectError(api.staff.create({ coupon }), 'APPLICABLE_USERS_NOT_FOUND');
  });

  it('Rule 1: a discount of 0 beside another does not count as one, and is stored as 0', async () => {
    const { coupon } = await api.staff.create({ coupon: { discountPercent: 0, flatDiscount: 5 } });
    expect(coupon).toMatchObject({ discountPercent: '0', flatDiscount: '5' });
  });

  it('Rule 5: a caller without the identity of an existing staff user is refused', async () => {
    await expectError(api.guest.create({ coupon: { discountPercent: 5 } }), 'UNAUTHORIZED');
    const stranger = api.as(await signToken({ staffId: 999 }));
    await expectError(stranger.create({ coupon: { discountPercent: 5 } }), 'UNAUTHORIZED');
  });

  it.each([{}, { couponCode: '' }])('Rule 6: without a code, one is generated', async (code) => {
    const before = String(Date.now()).slice(-6);
    const { coupon } = await api.staff.create({ coupon: { discountPercent: 5, ...code } });
    const after = String(Date.now()).slice(-6);
    const [, digits = ''] = coupon?.couponCode.match(/^DC(\d{6})[B-DF-HJ-NP-TV-Z0-9]{6}$/) ?? [];
    expect(digits).not.toBe('');
    if (before <= after) expect(digits >= before && digits <= after).toBe(true);
  });

  it.each([
    ['white space at its end', 'T1 ', 'U+0020'],
    ['an invisible character', 'SPRING\u200b26', 'U+200B'],
    ['nothing that shows', '\u3164', 'U+3164'],
  ])(
    'A code with %s is refused, and the error names the field and the character',
    async (_what, couponCode, character) => {
      const before = await countCoupons();
      for (const caller of [api.staff, api.guest]) {
        const call = caller.create({ coupon: { couponCode, discountPercent: 10 } });
        await expectInvalidField(call, 'coupon.coupon_code');
        expect((await failureOf(call)).rawMessage).toContain(character);
      }
      expect(await countCoupons()).toEqual(before);
    },
  );

  it('A code is stored in NFC, and is taken in any form of it', async () => {
    const body = { discountPercent: 10, isApplyForAll: true };
    const { coupon } = await api.staff.create({ coupon: { ...body, couponCode: 'CAFE\u0301' } });
    expect(coupon?.couponCode).toBe('CAF\u00c9');
    const again = await failureOf(api.staff.create({ coupon: { ...body, couponCode: 'CAF\u00c9' } }));
    expect(again.rawMessage).toBe('Coupon code already exists');
    for (const code of ['cafe\u0301', 'caf\u00e9']) {
      expect((await api.guest.validate({ code, userId: 1, orderAmount: 100 })).discountAmount).toBe(10);
      expect((await api.staff.getAll({ search: code })).coupons.map(({ id }) => id)).toEqual([coupon?.id]);
    }
  });

  it('A code that is asked for may have any characters', async () => {
    const answer = await api.guest.validate({ code: 'T1\u200b ', userId: 1, orderAmount: 1 });
    expect(answer.message).toBe('Coupon not found or invalidated');
    expect((await api.staff.getAll({ search: ' \u200b' })).coupons).toEqual([]);
  });

  it('A limit below 0 is refused, and a limit of 0 is stored', async () => {
    const coupon = { discountPercent: 10, maxLimitForUser: -1 };
    await expectInvalidField(api.staff.create({ coupon }), 'coupon.max_limit_for_user');
    const created = await api.staff.create({ coupon: { ...coupon, maxLimitForUser: 0 } });
    expect(created.coupon?.maxLimitForUser).toBe(0);
  });

  it('Rule 7: a code that exists is refused; upper and lower case differ', async () => {
    await api.staff.create({ coupon: { discountPercent: 5, couponCode: 'Taken' } });
    await expectError(api.staff.create({ coupon: { flatDiscount: 5, couponCode: 'Taken' } }), 'COUPON_CODE_TAKEN');
    const { coupon } = await api.staff.create({ coupon: { discountPercent: 5, couponCode: 'TAKEN' } });
    expect(coupon?.couponCode).toBe('TAKEN');
  });

  it('Rule 7: of 50 concurrent calls with the same code, one succeeds', async () => {
    const coupon = { discountPercent: 5, couponCode: 'RACED', applicableUsers: { ids: [1] } };
    const calls = await Promise.allSettled(Array.from({ length: 50 }, () => api.staff.create({ coupon })));
    expect(calls.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const call of calls) {
      if (call.status === 'rejected') expect(call.reason.rawMessage).toBe('Coupon code already exists');
    }
    expect(await api.sql(`select 1 from coupons where coupon_code = 'RACED'`)).toHaveLength(1);
  });

  it('The error names the first rule that is broken', async () => {
    await api.staff.create({ coupon: { discountPercent: 5, couponCode: 'ORDER' } });
    const message = async (coupon: Parameters<typeof api.staff.create>[0]['coupon'], client = api.staff) =>
      (await failureOf(client.create(coupon === undefined ? {} : { coupon }))).rawMessage;
    const rest = { couponCode: 'ORDER', applicableProducts: { ids: [999] } };
    expect(await message(undefined, api.guest)).toBe(oneDiscount);
    expect(await message({ ...rest, isUserBased: true, isApplyForAll: true }, api.guest)).toBe(oneDiscount);
    const users = { applicableUsers: { ids: [999] } };
    expect(await message({ ...rest, isUserBased: true, flatDiscount: 1 }, api.guest)).toBe(usersOrAll);
    const both = { ...rest, ...users, flatDiscount: 1, isUserBased: true, isApplyForAll: true };
    expect(await message(both, api.guest)).toBe(notBoth);
    expect(await message({ ...rest, ...users, flatDiscount: 1 }, api.guest)).toBe(usersNotFound);
    expect(await message({ ...rest, flatDiscount: 1 }, api.guest)).toBe('Unauthorized');
    expect(await message({ ...rest, flatDiscount: 1 })).toBe('Coupon code already exists');
  });

  it.each([
    ['discount_percent', { discountPercent: -1 }],
    ['discount_percent', { discountPercent: Number.NaN }],
    ['flat_discount', { flatDiscount: Number.POSITIVE_INFINITY }],
    ['min_order', { minOrder: -0.01 }],
    ['max_value', { maxValue: Number.NEGATIVE_INFINITY }],
    ['coupon_code', { couponCode: 'x'.repeat(129) }],
    ['coupon_code', { couponCode: 'a\0b' }],
    ['valid_till', { validTill: 'someday' }],
    ['valid_till', { validTill: '2026-02-31' }],
  ])('The type of %s is checked before the rules', async (field, coupon) => {
    await expectInvalidField(api.staff.create({ coupon }), `coupon.${field}`);
  });

  it('A discount of more than 100 percent is allowed', async () => {
    const { coupon } = await api.staff.create({ coupon: { discountPercent: 150 } });
    expect(coupon?.discountPercent).toBe('150');
  });
});
