import { digitsOfCurrency } from '../../page-config.ts';
import { words } from '../words.ts';
import { business } from './business.ts';

/** Formats an amount with the business's currency, such as "₹1,896.80". It shows all digits that a decimal has. */
export function formatAmount(amount: string | number, digits = 10): string {
  const { currency } = business;
  // Of rupees, lakhs and crores are grouped.
  return Number(amount).toLocaleString(currency === 'INR' ? 'en-IN' : 'en', {
    ...(currency !== undefined && { style: 'currency', currency }),
    minimumFractionDigits: currencyDigits(),
    maximumFractionDigits: Math.max(digits, currencyDigits()),
  });
}

/** Formats an amount for a sentence: a whole one without its fraction, such as "₹300". */
export const shortAmount = (amount: string | number): string => formatAmount(amount).replace(/\.0+(?!\d)/, '');

/** Returns how many digits amounts of the business's currency have after the point. */
export const currencyDigits = (): number => digitsOfCurrency(business.currency) ?? 2;

/** Reads an amount as people write it: "₹1,500.50", "1 500,5". NaN for other text, and where it may mean two. */
export function readAmount(text: string): number {
  const digits = digitsOf(text);
  if (isAmbiguous(digits)) return Number.NaN;
  if (/^[1-9]\d{0,2}(,\d{2,3})*,\d{3}(\.\d+)?$/.test(digits)) return Number(digits.replaceAll(',', ''));
  if (/^(\d+([.,]\d+)?)?$/.test(digits)) return Number(digits.replace(',', '.'));
  if (/^\d{1,3}(\.\d{3})+,\d+$/.test(digits)) return Number(digits.replaceAll('.', '').replace(',', '.'));
  return Number.NaN;
}

/** Returns the problem with a text as an amount; undefined if it is one. */
export function amountProblem(text: string): string | undefined {
  if (!Number.isNaN(readAmount(text))) return undefined;
  const digits = digitsOf(text);
  return isAmbiguous(digits)
    ? words.forms.eitherAmount(digits.replace(/[.,]/, ''), Number(digits.replace(',', '.')))
    : words.forms.noAmount;
}

/** Removes what groups digits, and the sign of the business's currency. Another currency's amount is none here. */
function digitsOf(text: string): string {
  const digits = text.replace(/[\s\u00a0\u202f'’_]/g, '');
  return business.currency === undefined ? digits : digits.replace(formatAmount(0).replace(/[\d.,\s]/g, ''), '');
}

/** Whether a sign may separate thousands or a fraction: a point does in "1.500", unless amounts have three digits. */
function isAmbiguous(digits: string): boolean {
  return (currencyDigits() < 3 ? /^[1-9]\d{0,2}\.\d\d0$/ : /^[1-9]\d{0,2},\d{3}$/).test(digits);
}
