/**
 * An exact decimal: units / 10 ** scale. The scale of a large one may be negative. Amounts are never computed in binary
 * floating point.
 */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

const form = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/**
 * Parses a decimal in the notation of PostgreSQL or JavaScript. A finite number stands for its shortest text.
 * Throws for anything else.
 */
export function decimal(value: string | number): Decimal {
  const match = form.exec(String(value));
  if (match === null) throw new Error('not a decimal');
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  return { units: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length - Number(exponent) };
}

/** Returns a number below, equal to or above 0 if `left` is below, equal to or above `right`. */
export function compare(left: Decimal, right: Decimal): number {
  const scale = Math.max(left.scale, right.scale);
  const difference = unitsAt(left, scale) - unitsAt(right, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Returns the smaller of two. */
export const least = (left: Decimal, right: Decimal): Decimal => (compare(left, right) <= 0 ? left : right);

/** Rounds an amount that is not negative to a number of digits after the point. Without a number, it stays as it is. */
export function round(amount: Decimal, digits: number | undefined, way: 'half up' | 'down'): Decimal {
  if (digits === undefined || amount.scale <= digits) return amount;
  const unit = 10n ** BigInt(amount.scale - digits);
  return { units: (amount.units + (way === 'down' ? 0n : unit / 2n)) / unit, scale: digits };
}

/** Returns `percent` hundredths of an amount. */
export function percentOf(amount: Decimal, percent: Decimal): Decimal {
  return { units: amount.units * percent.units, scale: amount.scale + percent.scale + 2 };
}

/**
 * Returns the nearest double. Values beyond the largest double are capped at it, because JSON has no infinity. The
 * result is never negative zero.
 */
export function toNumber(amount: Decimal): number {
  const nearest = Number(toNumericText(amount));
  return Math.min(Math.max(nearest, -Number.MAX_VALUE), Number.MAX_VALUE) || 0;
}

/** Returns the text of a decimal as PostgreSQL reads it. */
export const toNumericText = ({ units, scale }: Decimal): string => `${units}e${-scale}`;

const unitsAt = ({ units, scale }: Decimal, wanted: number) => units * 10n ** BigInt(wanted - scale);
