import { describe, expect, it } from 'vitest';
import { readBusinessCurrency, readBusinessTimeZone } from '../../shared/config/business.ts';
import { digitsOfCurrency } from '../../shared/config/currencies.ts';
import { ConfigErrors } from '../../shared/config/variables.ts';

/** What is read, or the error's text. */
function read<Value>(reader: (errors: ConfigErrors) => Value): Value | string {
  const errors = new ConfigErrors();
  const value = reader(errors);
  try {
    errors.throwIfAny();
  } catch (error) {
    return String(error);
  }
  return value;
}
const zoneOf = (name: string) => read((errors) => readBusinessTimeZone({ BUSINESS_TIME_ZONE: name }, errors));
const currencyOf = (code: string) => read((errors) => readBusinessCurrency({ BUSINESS_CURRENCY: code }, errors));

describe('The variables of the business', () => {
  it.each([
    ...['UTC', 'Asia/Kolkata', 'Asia/Calcutta', 'America/Argentina/Buenos_Aires', 'America/Port-au-Prince'],
    ...['Etc/GMT+5', 'GMT', 'GMT0', 'CET', 'EST', 'EST5EDT', 'GB', 'NZ-CHAT', 'Japan', 'ROK', 'W-SU'],
  ])('The time zone %s is taken', (name) => {
    expect(zoneOf(name)).toBe(name);
  });

  it.each([
    ...[
      ...['+05:30', '-08', '+0530', 'UTC+5', 'Mars/Olympus', 'Asia/Kolkata ', 'EST5EDT,M3.2.0,M11.1.0', 'local'],
      ...['Z', '5'],
    ],
    // Intl takes these for Asia/Calcutta, Asia/Dhaka and America/Los_Angeles.
    ...['IST', 'BST', 'pst'],
  ])('The time zone %j is refused', (name) => {
    expect(zoneOf(name)).toBe(
      `ConfigError: BUSINESS_TIME_ZONE must be the name of a time zone, such as Asia/Kolkata, not "${name}"`,
    );
  });

  it('Without a time zone it is UTC', () => {
    expect(zoneOf('')).toBe('UTC');
  });

  it.each(Intl.supportedValuesOf('currency'))('The currency %s, which this runtime can show, is taken', (code) => {
    expect(currencyOf(code)).toBe(code);
  });

  it.each(['inr', 'IN', 'RUPEE', '₹', 'ZZZ', 'INR ', 'XXX'])('The currency %j is refused', (code) => {
    expect(currencyOf(code)).toBe(
      `ConfigError: BUSINESS_CURRENCY must be a currency of ISO 4217, such as INR, not "${code}"`,
    );
  });

  it.each([
    [
      0,
      [
        'BIF',
        'CLP',
        'DJF',
        'GNF',
        'ISK',
        'JPY',
        'KMF',
        'KRW',
        'PYG',
        'RWF',
        'UGX',
        'UYI',
        'VND',
        'VUV',
        'XAF',
        'XOF',
        'XPF',
      ],
    ],
    // Some runtimes show these without digits.
    [
      2,
      [
        'AFN',
        'ALL',
        'COP',
        'HUF',
        'IDR',
        'IRR',
        'KPW',
        'LAK',
        'LBP',
        'MGA',
        'MMK',
        'PKR',
        'RSD',
        'SLL',
        'SOS',
        'SYP',
        'YER',
      ],
    ],
    [2, ['INR', 'EUR', 'USD', 'MRU', 'TZS', 'UZS']],
    [3, ['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND']],
    [4, ['CLF', 'UYW']],
  ])('Amounts have the %d digits of ISO 4217: %j', (digits, codes) => {
    expect(codes.map(digitsOfCurrency)).toEqual(codes.map(() => digits));
  });

  it('Without a currency there is none', () => {
    expect(currencyOf('')).toBeUndefined();
    expect(digitsOfCurrency(undefined)).toBeUndefined();
  });
});
