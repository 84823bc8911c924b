import { describe, expect, it } from 'vitest';
import { readBusinessCurrency, readBusinessTimeZone } from '../../shared/config/business.ts';
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

  it.each(['INR', 'EUR', 'JPY'])('The currency %s is taken', (code) => {
    expect(currencyOf(code)).toBe(code);
  });

  it.each(['inr', 'IN', 'RUPEE', '₹', 'ZZZ', 'INR '])('The currency %j is refused', (code) => {
    expect(currencyOf(code)).toBe(
      `ConfigError: BUSINESS_CURRENCY must be a currency of ISO 4217, such as INR, not "${code}"`,
    );
  });

  it('Without a currency there is none', () => {
    expect(currencyOf('')).toBeUndefined();
  });
});
