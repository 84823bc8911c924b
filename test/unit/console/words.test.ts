import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { blankDraft, usersLeft } from '../../../services/staff-console/page/coupons/record/draft.ts';
import {
  describeAudience,
  describeDiscount,
  describeField,
  describeMinimum,
  describeUses,
  nameOfBatch,
  stateOf,
} from '../../../services/staff-console/page/coupons/record/words.ts';
import { counted } from '../../../services/staff-console/page/words.ts';
import { UserSchema } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';

describe('A coupon in words', () => {
  it.each([
    [{ discountPercent: '10', maxValue: '150' }, '10% up to 150'],
    [{ discountPercent: '33.3', flatDiscount: '80' }, '33.3%'],
    [{ discountPercent: '0', flatDiscount: '80' }, '80'],
    [{ flatDiscount: '80', maxValue: '50' }, '80 up to 50'],
    [{ flatDiscount: '80', maxValue: '150' }, '80'],
    [{ maxValue: '150' }, 'No discount'],
  ])('The discount of %j is “%s”', (discounts, words) => {
    expect(describeDiscount(discounts)).toBe(words);
  });

  it('The smallest order is an amount, or any', () => {
    expect(['500', '0', undefined].map(describeMinimum)).toEqual(['500', 'Any order', 'Any order']);
  });

  it.each([
    [{ isApplyForAll: true, isUserBased: true }, 2, 'Everyone'],
    [{ isApplyForAll: false, isUserBased: true }, 2, '2 customers'],
    [{ isApplyForAll: false, isUserBased: true }, 1, '1 customer'],
    [{ isApplyForAll: false, isUserBased: true }, 0, 'Nobody'],
    [{ isApplyForAll: false, isUserBased: false }, 2, 'Nobody'],
  ])('%j, with %i users left, is for “%s”', (coupon, users, words) => {
    expect(describeAudience(coupon, users)).toBe(words);
  });

  it('Users who were deleted are not left', () => {
    const users = [{ id: 1, name: 'Ravi' }, { id: 2, mobile: '9000000002' }, { id: 3 }].map((user) =>
      create(UserSchema, user),
    );
    expect(usersLeft({ applicableUsers: users })).toBe(2);
  });

  it('It is valid until its end, unless it was invalidated', () => {
    const validTill = timestampFromDate(new Date(1_000));
    const states = [{}, { validTill }, { validTill, isInvalidated: true }].map((coupon) => stateOf(coupon, 1_001));
    expect(states).toEqual(['active', 'expired', 'ended']);
    expect(stateOf({ validTill }, 1_000)).toBe('active');
  });

  it('It is scheduled until its start, unless it was invalidated or has ended before that', () => {
    const [startsAt, validTill] = [2_000, 1_000].map((ms) => timestampFromDate(new Date(ms)));
    const coupons = [{ startsAt }, { startsAt, validTill }, { startsAt, isInvalidated: true }];
    expect(coupons.map((coupon) => stateOf(coupon, 1_999))).toEqual(['scheduled', 'expired', 'ended']);
    expect(stateOf({ startsAt }, 2_000)).toBe('active');
  });

  it('It is used up once it has as many uses as it may have, unless it has ended before', () => {
    expect([0, 2, 3].map((used) => stateOf({ maxUses: 3 }, 0, used))).toEqual(['active', 'active', 'usedUp']);
    expect(stateOf({ maxUses: 3, isInvalidated: true }, 0, 3)).toBe('ended');
    expect(stateOf({}, 0, 3)).toBe('active');
  });

  it('Its uses in all are counted, or without a limit', () => {
    expect([{ maxUses: 1_500 }, { maxUses: 0 }, {}].map(describeUses)).toEqual(['1,500', 'No limit', 'No limit']);
  });

  it('A batch without a name has its number, and its codes are counted', () => {
    expect([nameOfBatch({ id: 7, name: '' }), nameOfBatch({ id: 7, name: 'Letters' })]).toEqual(['Batch 7', 'Letters']);
    expect([counted(1, 'codes'), counted(2_000, 'codes')]).toEqual(['1 code', '2,000 codes']);
  });

  it('The fields of a draft are named as in its form, and chosen users count only while it is for them', () => {
    const users = [{ id: 1, name: 'Ravi' }];
    const draft = { ...blankDraft, users, audience: 'chosen' as const, products: [{ id: 7, name: '' }] };
    expect(describeField('audience', draft)).toEqual(['Customers', 'Selected: Ravi']);
    expect(describeField('audience', { ...draft, audience: 'everyone' })).toEqual(['Customers', 'Everyone']);
    expect(describeField('products', draft)).toEqual(['Products', 'Product 7']);
    expect(describeField('products', blankDraft)).toEqual(['Products', 'All products']);
    const limited = { ...blankDraft, startsAt: '2026-12-01T10:00', maxUses: '500' };
    expect(describeField('startsAt', limited)).toEqual(['Starts', '2026-12-01 10:00']);
    expect(describeField('maxUses', limited)).toEqual(['Usage limit', '500']);
  });
});
