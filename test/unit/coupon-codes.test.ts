import { describe, expect, it } from 'vitest';
import {
  newCouponCode,
  newPhoneCouponCode,
  newReservedCouponCode,
  newSecretCode,
  refundCode,
} from '../../services/coupon-service/codes.ts';

describe('codes', () => {
  const now = 1_795_249_000_123;

  it('have the form that the spec gives', () => {
    expect(newCouponCode('DC', now)).toMatch(/^DC000123[A-Z0-9]{6}$/);
    expect(newSecretCode(now)).toMatch(/^SECRET000123[A-Z0-9]{6}$/);
    expect(newReservedCouponCode(now)).toBe('RESERVED000123');
    expect(newPhoneCouponCode('ZZ', '9876543210', now)).toMatch(/^ZZ3210000123[A-Z0-9]{4}$/);
  });

  it('differ within a millisecond and use the whole alphabet', () => {
    const codes = Array.from({ length: 2000 }, () => newCouponCode('DC', now));
    expect(new Set(codes).size).toBe(2000);
    expect(new Set(codes.flatMap((code) => [...code.slice(8)])).size).toBe(36);
  });

  it('of refunds start with whole characters', () => {
    expect(refundCode({ name: 'ab', mobile: '9' }, 7)).toBe('AB7');
    expect(refundCode({ name: '👩‍👩‍👧‍👦👍🏽ñandu', mobile: '9' }, 7)).toBe('👩‍👩‍👧‍👦👍🏽Ñ7');
    expect(refundCode({ name: '', mobile: '98765' }, 7)).toBe('9877');
    expect(refundCode({ name: null, mobile: null }, 7)).toBe('USR7');
  });
});
