import { afterEach, describe, expect, it } from 'vitest';
import { business, setBusiness } from '../../../services/staff-console/page/business/business.ts';
import {
  amountProblem,
  currencyDigits,
  formatAmount,
  readAmount,
} from '../../../services/staff-console/page/business/money.ts';

describe('An amount', () => {
  const before = business;
  afterEach(() => setBusiness(before));

  it.each([
    ['1500', 1500],
    ['1500.50', 1500.5],
    ['1500,5', 1500.5],
    ['1,500.50', 1500.5],
    ['1.500,50', 1500.5],
    ['1 500', 1500],
    ['1,500', 1500],
    [' 12,500 ', 12_500],
    ['1,00,000.5', 100_000.5],
    ['0,125', 0.125],
    ['999.999', 999.999],
    ['', 0],
  ])('“%s” is read as people mean it', (text, amount) => {
    expect(readAmount(text)).toBe(amount);
    expect(amountProblem(text)).toBeUndefined();
  });

  it.each(['abc', '-5', '1..5', '1e3'])('“%s” is no amount', (text) => {
    expect(amountProblem(text)).toBe('Enter a number, such as 150 or 99.5.');
  });

  it('An amount that may mean two is not guessed', () => {
    expect(amountProblem('1.500')).toBe('Write 1500 or 1.5: this may mean either.');
    setBusiness({ timeZone: 'UTC', currency: 'KWD' });
    expect(readAmount('1.500')).toBe(1.5);
    expect(amountProblem('1,500')).toBe('Write 1500 or 1.5: this may mean either.');
  });

  it('An amount may have the sign of the business’s currency, and no other sign', () => {
    setBusiness({ timeZone: 'UTC', currency: 'INR' });
    expect(['₹1,500.50', '₹ 99', '1500 ₹'].map(readAmount)).toEqual([1500.5, 99, 1500]);
    for (const text of ['€100', '$100', '10 %', '₹₹5']) expect(readAmount(text)).toBeNaN();
    setBusiness({ timeZone: 'UTC', currency: undefined });
    expect(readAmount('₹100')).toBeNaN();
  });

  it('An amount has the currency’s sign and digits', () => {
    setBusiness({ timeZone: 'UTC', currency: 'INR' });
    expect([formatAmount('1896.80'), formatAmount('1000')]).toEqual(['₹1,896.80', '₹1,000.00']);
    setBusiness({ timeZone: 'UTC', currency: 'JPY' });
    expect(formatAmount('1000')).toBe('¥1,000');
  });

  it.each([
    ['RSD', '133.42', 'RSD\u00a0133.42'],
    ['HUF', '100', 'HUF\u00a0100.00'],
    ['IQD', '1500.5', 'IQD\u00a01,500.500'],
  ])(
    'An amount of %s has the digits that the services round to, whatever the browser shows of it',
    (currency, amount, shown) => {
      setBusiness({ timeZone: 'UTC', currency });
      expect(formatAmount(amount, currencyDigits())).toBe(shown);
      expect(formatAmount(amount)).toBe(shown);
    },
  );

  it('Without a currency, amounts have two digits, and more where they have more', () => {
    expect([formatAmount('1000'), formatAmount('0.125')]).toEqual(['1,000.00', '0.125']);
  });
});
