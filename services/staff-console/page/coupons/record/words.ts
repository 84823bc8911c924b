import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { formatAmount, readAmount } from '../../business/money.ts';
import { isolate } from '../../ui/text.ts';
import { type Chosen, type CouponDraft, discountsOf, usersOf } from './draft.ts';

/** The views of the coupons, by their paths. */
export const couponViews = [
  ['/coupons', 'Coupons'],
  ['/coupons/reserved', 'Reserved'],
  ['/coupons/batches', 'Many codes'],
] as const;

/** The discounts of a coupon. Amounts are decimals; 0 or an empty text means none. */
export interface Discounts {
  readonly discountPercent?: string | undefined;
  readonly flatDiscount?: string | undefined;
  readonly maxValue?: string | undefined;
}

/** Describes a coupon's discount, such as "10 % off, at most 150". */
export function describeDiscount({ discountPercent, flatDiscount, maxValue }: Discounts): string {
  const [percent, amount, most] = [discountPercent, flatDiscount, maxValue].map((text = '') => readAmount(text));
  const cap = most !== undefined && most > 0 ? `, at most ${formatAmount(most)}` : '';
  if (percent !== undefined && percent > 0) return `${percent} % off${cap}`;
  if (amount !== undefined && amount > 0) return `${formatAmount(amount)} off${Number(most) < amount ? cap : ''}`;
  return 'No discount';
}

/** Describes the smallest order for which a coupon can be used. */
export function describeMinimum(minOrder: string | undefined): string {
  return Number(minOrder ?? 0) > 0 ? formatAmount(minOrder ?? 0) : 'Any order';
}

/** Describes who may use a coupon; `users` is the number of chosen users who still exist. */
export function describeAudience(
  { isApplyForAll, isUserBased }: { readonly isApplyForAll: boolean; readonly isUserBased: boolean },
  users: number,
): string {
  if (isApplyForAll) return 'Everyone';
  return isUserBased && users > 0 ? `${users} ${users === 1 ? 'user' : 'users'}` : 'Nobody';
}

/** When and how often a coupon can be used. */
export interface Limits {
  readonly startsAt?: Timestamp | undefined;
  readonly validTill?: Timestamp | undefined;
  /** The uses of all customers together; 0 or undefined: no limit. */
  readonly maxUses?: number | undefined;
}

/** Describes how often a coupon can be used by all customers together. */
export function describeUses({ maxUses }: Limits): string {
  return maxUses ? maxUses.toLocaleString('en') : 'No limit';
}

/** Returns whether a coupon can be used at a time in Unix ms. */
export function stateOf(
  { isInvalidated = false, startsAt, validTill }: Limits & { readonly isInvalidated?: boolean },
  now: number,
): 'Valid' | 'Scheduled' | 'Expired' | 'Invalidated' {
  if (isInvalidated) return 'Invalidated';
  if (validTill !== undefined && timestampMs(validTill) < now) return 'Expired';
  return startsAt !== undefined && timestampMs(startsAt) > now ? 'Scheduled' : 'Valid';
}

/** Names a batch of coupons. */
export function nameOfBatch({ id, name }: { readonly id: number; readonly name: string }): string {
  return isolate(name) || `Batch ${id}`;
}

/** Counts codes, such as "1,000 codes". */
export function codesInWords(count: number): string {
  return count === 1 ? '1 code' : `${count.toLocaleString('en')} codes`;
}

// Nobody reads more names than this.
const namedMost = 20;

/** Describes a field of a draft: its label in the form, and its value in words. */
export function describeField(field: keyof CouponDraft, draft: CouponDraft): readonly [label: string, words: string] {
  const audience = { everyone: 'Everyone', chosen: `Chosen: ${namesOf(usersOf(draft))}`, nobody: 'Nobody yet' };
  const words: Readonly<Record<keyof CouponDraft, readonly [string, string]>> = {
    couponCode: ['Code', draft.couponCode],
    discount: ['Discount', describeDiscount(discountsOf(draft.discount))],
    minOrder: ['Smallest order', draft.minOrder],
    maxValue: ['Largest discount', draft.maxValue],
    startsAt: ['Starts', draft.startsAt.replace('T', ' ')],
    validTill: ['Valid until', draft.validTill.replace('T', ' ')],
    audience: ['For whom', audience[draft.audience]],
    users: ['Users', namesOf(draft.users)],
    products: ['Products', draft.products.length === 0 ? 'All' : `Only ${namesOf(draft.products)}`],
    maxLimitForUser: ['Uses for each user', draft.maxLimitForUser],
    maxUses: ['Uses in all', draft.maxUses],
    exclusiveApply: ['Not with other coupons', draft.exclusiveApply ? 'Yes' : 'No'],
  };
  return words[field];
}

function namesOf(chosen: readonly Chosen[]): string {
  if (chosen.length === 0) return 'Nobody chosen';
  const names = chosen.slice(0, namedMost).map(({ id, name }) => name || `Product ${id}`);
  return names.join(', ') + (chosen.length > namedMost ? ` and ${chosen.length - namedMost} more` : '');
}
