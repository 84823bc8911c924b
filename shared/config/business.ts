import { isTimeZone } from '../clock/time-zone.ts';
import type { ConfigErrors, Environment } from './variables.ts';

/** Reads the time zone of the business (design 12). Links, such as `Asia/Calcutta`, are taken. */
export function readBusinessTimeZone(env: Environment, errors: ConfigErrors): string {
  const name = env.BUSINESS_TIME_ZONE || 'UTC';
  if (!isTimeZone(name)) {
    errors.add(`BUSINESS_TIME_ZONE must be the name of a time zone, such as Asia/Kolkata, not "${name}"`);
  }
  return name;
}

/** Reads the currency of all amounts (design 12); undefined if the variable is not set. */
export function readBusinessCurrency(env: Environment, errors: ConfigErrors): string | undefined {
  const code = env.BUSINESS_CURRENCY || undefined;
  if (code !== undefined && !Intl.supportedValuesOf('currency').includes(code)) {
    errors.add(`BUSINESS_CURRENCY must be a currency of ISO 4217, such as INR, not "${code}"`);
  }
  return code;
}
