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

/** Reads the calling code that mobile numbers are stored without (design 14); undefined if the variable is not set. */
export function readCallingCode(env: Environment, errors: ConfigErrors): string | undefined {
  const code = env.BUSINESS_CALLING_CODE || undefined;
  if (code !== undefined && !/^[1-9]\d{0,3}$/.test(code)) {
    errors.add(`BUSINESS_CALLING_CODE must be 1 to 4 digits, such as 91, not "${code}"`);
  }
  return code;
}

// A letter first, which no offset has. Three letters only where IANA has them: Intl takes further ones, and reads BST
// as the time of Bangladesh.
const ianaName = /^(?:[A-Z]\w|(?:[CEMW]ET|[EHM]ST|GMT|PRC|RO[CK]|UCT|UTC)|[A-Z][\w/+-]{3,})$/i;

/**
 * Whether a text is the name of a time zone in the IANA database, in any case. Links, such as `Asia/Calcutta`, are;
 * offsets and POSIX texts are not.
 */
export function isTimeZone(name: string): boolean {
  if (!ianaName.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
