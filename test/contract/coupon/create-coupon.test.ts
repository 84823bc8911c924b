import { expect, it } from 'vitest';
import { couponContract, expectError, failureOf } from '../../support/contract.ts';

couponContract('CreateCoupon', (api) => {
  it('The coupon has the fixed terms and belongs to the user with the mobile number', async () => {
    const { success, coupon } = await api.staff.createCoupon({ mobile: '+900 000-0002 ' });
    expect(success).toBe(true);
    expect(coupon).toMatchObject({
      ...{ userId: 2, userMobile: '9000000002', discountPercent: 20, minOrder: 1000, maxValue: 500 },
      maxLimitForUser: 1,
    });
    expect(coupon?.couponCode).toMatch(/^DC0002\d{6}[B-DF-HJ-NP-TV-Z0-9]{4}$/);
    const [stored] = await api.sql(
      `select coupons.*, valid_till - created_at = interval '2160 hours' as lasts_90_days,
         array(select user_id from coupon_applicable_users where coupon_id = coupons.id) as users
       from coupons where id = $1`,
      [coupon?.id],
    );
    expect(stored).toMatchObject({
      ...{ coupon_code: coupon?.couponCode, discount_percent: '20', flat_discount: null, min_order: '1000' },
      ...{ max_value: '500', max_limit_for_user: 1, is_user_based: true, is_apply_for_all: false },
      ...{ exclusive_apply: false, is_invalidated: false, product_ids: null, created_by: 1, lasts_90_days: true },
      users: [2],
    });
  });

  it('A mobile number of no user creates a user without name and email', async () => {
    const { coupon } = await api.staff.createCoupon({ mobile: '7111111111' });
    expect(await api.sql('select id, name, email from users where mobile = $1', ['7111111111'])).toEqual([
      { id: coupon?.userId, name: null, email: null },
    ]);
  });

  it('Concurrent calls with a new mobile number create one user, and a coupon for each call', async () => {
    // Only from the second round on does each call find a connection that is open.
    for (let round = 0; round < 5; round += 1) {
      const mobile = `722222222${round}`;
      const calls = await Promise.all(Array.from({ length: 8 }, () => api.staff.createCoupon({ mobile })));
      const users = await api.sql('select id from users where mobile = $1', [mobile]);
      expect(users).toHaveLength(1);
      expect(calls.map(({ coupon }) => coupon?.userId)).toEqual(Array(8).fill(users[0]?.id));
      expect(new Set(calls.map(({ coupon }) => coupon?.couponCode)).size).toBe(8);
    }
  });

  it('An empty mobile number is refused before all else', async () => {
    const error = await failureOf(api.guest.createCoupon({ mobile: '' }));
    expect(error.rawMessage).toContain('Mobile number is required');
  });

  it('Rule 1: a caller without a staff identity is refused before the digits are checked', async () => {
    await expectError(api.guest.createCoupon({ mobile: '123' }), 'UNAUTHORIZED');
  });

  it.each(['123456789', '12345678901', 'no digits', '987654３２１0123', '٠١٢٣٤٥٦٧٨', ' '])(
    'Rule 2: %j is refused, because it does not have 10 digits',
    async (mobile) => {
      await expectError(api.staff.createCoupon({ mobile }), 'MOBILE_NOT_TEN_DIGITS');
    },
  );

  it.each(['٩٨٧٦٥٤٣٢١٠', '98765４3２10', '𝟗𝟖𝟕𝟔𝟓𝟒𝟑𝟐𝟏𝟎', '𝟿876५432-10'])(
    'Rule 2: the digits of %s, whatever their script, are those of the mobile number',
    async (mobile) => {
      const { coupon } = await api.staff.createCoupon({ mobile });
      expect(coupon?.userMobile).toBe('9876543210');
    },
  );

  it('Rule 4: a generated code that exists is refused, and no user is left behind', async () => {
    // The trigger makes every generated code the same.
    await api.sql(`
      create function same_code() returns trigger language plpgsql
        as $$ begin new.coupon_code := 'MADE-UP'; return new; end $$;
      create trigger same_code before insert on coupons for each row execute function same_code()`);
    try {
      await api.staff.createCoupon({ mobile: '9000000001' });
      await expectError(api.staff.createCoupon({ mobile: '7333333333' }), 'GENERATED_CODE_TAKEN');
    } finally {
      await api.sql('drop function same_code cascade');
    }
    expect(await api.sql(`select 1 from users where mobile = '7333333333'`)).toEqual([]);
  });
});
