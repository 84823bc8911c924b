import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import {
  blankDraft,
  type CouponDraft,
  changesOf,
  draftOf,
  isChange,
} from '../../../services/staff-console/page/coupons/record/draft.ts';
import { CouponDetailSchema } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';

const asha = { id: 1, name: 'Asha' };
const ravi = { id: 2, name: 'Ravi' };

const stored: CouponDraft = {
  ...blankDraft,
  couponCode: 'SAVE10',
  discount: { kind: 'percent', percent: '10', amount: '' },
  minOrder: '500',
  maxValue: '150.50',
  startsAt: '2028-01-02T10:30',
  validTill: '2030-01-02T10:30',
  maxLimitForUser: '2',
  maxUses: '500',
  audience: 'chosen',
  users: [asha, ravi],
  products: [{ id: 7, name: 'Product 7' }],
};

/** What a change of the stored coupon sends. */
function sent(part: Partial<CouponDraft>) {
  const given = Object.entries(changesOf(stored, { ...stored, ...part })).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

describe('The changes of a coupon', () => {
  it('Nothing is sent when nothing was changed', () => {
    expect(sent({})).toEqual({});
    expect(isChange(changesOf(stored, { ...stored }))).toBe(false);
  });

  it('The same number in other digits is no change', () => {
    expect(sent({ minOrder: '500,0', maxValue: ' 150.5 ' })).toEqual({});
  });

  it.each<[string, Partial<CouponDraft>, object]>([
    ['code', { couponCode: ' SAVE11 ' }, { couponCode: 'SAVE11' }],
    ['percentage', { discount: { ...stored.discount, percent: '12.5' } }, { discountPercent: 12.5 }],
    ['smallest order', { minOrder: '600' }, { minOrder: 600 }],
    ['time', { validTill: '2031-01-02T10:30' }, { validTill: '2031-01-02T10:30:00.000Z' }],
    ['start', { startsAt: '2029-01-02T10:30' }, { startsAt: '2029-01-02T10:30:00.000Z' }],
    ['number of uses of a user', { maxLimitForUser: '3' }, { maxLimitForUser: 3 }],
    ['number of uses in all', { maxUses: '600' }, { maxUses: 600 }],
    ['exclusiveness', { exclusiveApply: true }, { exclusiveApply: true }],
    ['users', { users: [ravi] }, { applicableUsers: { ids: [2] } }],
    ['products', { products: [] }, { applicableProducts: { ids: [] } }],
    [
      'list of products',
      { products: [...stored.products, { id: 3, name: '', isListed: true }] },
      { productIds: { ids: [3] } },
    ],
  ])('A %s that was changed is sent alone', (_what, part, expected) => {
    expect(sent(part)).toEqual(expected);
  });

  it('An amount that was emptied is 0, because an update can’t clear it', () => {
    expect(sent({ minOrder: '', maxValue: '' })).toEqual({ minOrder: 0, maxValue: 0 });
  });

  it('A limit that was emptied is 0, which means no limit', () => {
    expect(sent({ maxLimitForUser: '', maxUses: '' })).toEqual({ maxLimitForUser: 0, maxUses: 0 });
  });

  it('A date that was emptied is empty', () => {
    expect(sent({ startsAt: '', validTill: '' })).toEqual({ startsAt: '', validTill: '' });
  });

  it('A change of the kind of discount sends the other kind as 0', () => {
    expect(sent({ discount: { kind: 'amount', percent: '10', amount: '80' } })).toEqual({
      discountPercent: 0,
      flatDiscount: 80,
    });
  });

  it('What was typed for the other kind of discount is not sent', () => {
    expect(sent({ discount: { ...stored.discount, amount: '80' } })).toEqual({});
  });

  it('A second discount that does not count goes when the one that counts is changed', () => {
    const both: CouponDraft = { ...stored, discount: { kind: 'percent', percent: '10', amount: '80' } };
    const changed: CouponDraft = { ...both, discount: { ...both.discount, percent: '0' } };
    expect(changesOf(both, changed)).toMatchObject({ discountPercent: 0, flatDiscount: 0 });
  });

  it('A coupon for everyone no longer has chosen users', () => {
    expect(sent({ audience: 'everyone' })).toEqual({
      isApplyForAll: true,
      isUserBased: false,
      applicableUsers: { ids: [] },
    });
  });

  it('The same users in another order are no change', () => {
    expect(sent({ users: [ravi, asha] })).toEqual({});
  });

  it('A new coupon sends what was filled in, and nothing else', () => {
    const discount = { ...blankDraft.discount, percent: '10' };
    const changes = changesOf(blankDraft, { ...blankDraft, discount, audience: 'chosen', users: [asha] });
    expect(JSON.parse(JSON.stringify(changes))).toEqual({
      discountPercent: 10,
      isApplyForAll: false,
      isUserBased: true,
      applicableUsers: { ids: [1] },
    });
  });
});

describe('The draft of a coupon', () => {
  const coupon = create(CouponDetailSchema, {
    id: 5,
    couponCode: 'FLAT',
    flatDiscount: '80',
    discountPercent: '0',
    isApplyForAll: true,
    startsAt: timestampFromDate(new Date('2029-01-02T10:30Z')),
    validTill: timestampFromDate(new Date('2030-01-02T10:30Z')),
    maxUses: 500,
    applicableUsers: [{ id: 3, mobile: '9000000003' }],
  });

  it('The draft holds the coupon as it is', () => {
    expect(draftOf(coupon)).toEqual({
      ...blankDraft,
      couponCode: 'FLAT',
      discount: { kind: 'amount', percent: '0', amount: '80' },
      startsAt: '2029-01-02T10:30',
      validTill: '2030-01-02T10:30',
      maxUses: '500',
      audience: 'everyone',
      users: [{ id: 3, name: 'Unknown', detail: '9000000003' }],
    });
  });

  it('The products are those of the links and of the list of ids', () => {
    const applicableProducts = [
      { id: 7, name: 'Milk' },
      { id: 8, name: '' },
    ];
    const limited = create(CouponDetailSchema, { applicableProducts, productIds: { ids: [3, 7] } });
    const { products } = draftOf(limited);
    expect(products).toEqual([
      { id: 7, name: 'Milk', isListed: true, isLinked: true },
      { id: 8, name: 'Product 8 (deleted)' },
      { id: 3, name: '', isListed: true },
    ]);
    expect(changesOf(blankDraft, { ...blankDraft, products })).toMatchObject({
      productIds: { ids: [7, 3] },
      applicableProducts: { ids: [7, 8] },
    });
  });

  it('A coupon with two discounts shows the percentage, which counts', () => {
    const both = create(CouponDetailSchema, { discountPercent: '5', flatDiscount: '80' });
    expect(draftOf(both).discount.kind).toBe('percent');
  });

  it('A coupon that is both for everyone and for some is for everyone', () => {
    const both = create(CouponDetailSchema, { isApplyForAll: true, isUserBased: true });
    expect(draftOf(both).audience).toBe('everyone');
  });
});
