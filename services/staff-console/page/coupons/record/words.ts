import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { readAmount, shortAmount } from '../../business/money.ts';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { type Chosen, type CouponDraft, discountsOf, usersOf } from './draft.ts';

const { terms: labels, form, summary } = words.coupon;
const { states } = words.coupons;

/** The views of the coupons, by their paths. */
export const couponViews = [
  ['/coupons', words.coupons.title],
  ['/coupons/reserved', words.coupons.reserved.tab],
  ['/coupons/batches', words.coupons.batches.title],
] as const;

/** The discounts of a coupon. Amounts are decimals; 0 or an empty text means none. */
export interface Discounts {
  readonly discountPercent?: string | undefined;
  readonly flatDiscount?: string | undefined;
  readonly maxValue?: string | undefined;
}

/** When and how often a coupon can be used. */
export interface Limits {
  readonly startsAt?: Timestamp | undefined;
  readonly validTill?: Timestamp | undefined;
  /** The uses of all customers together; 0 or undefined: no limit. */
  readonly maxUses?: number | undefined;
}

/** The terms of a coupon, a reserved coupon, or what stands in their forms. */
export interface Terms extends Discounts, Limits {
  readonly minOrder?: string | undefined;
  readonly maxLimitForUser?: number | undefined;
  readonly exclusiveApply?: boolean;
}

/** Returns a discount and its largest amount, such as "10%" and "₹150"; empty texts for none. */
export function discountOf({
  discountPercent,
  flatDiscount,
  maxValue,
}: Discounts): readonly [discount: string, most: string] {
  const [percent = 0, amount = 0, most = 0] = [discountPercent, flatDiscount, maxValue].map((text = '') =>
    readAmount(text),
  );
  if (percent > 0) return [`${percent}%`, most > 0 ? shortAmount(most) : ''];
  return amount > 0 ? [shortAmount(amount), most > 0 && most < amount ? shortAmount(most) : ''] : ['', ''];
}

/** Describes a coupon's discount, such as "10% up to ₹150". */
export function describeDiscount(discounts: Discounts): string {
  const [discount, most] = discountOf(discounts);
  return discount === '' ? summary.noDiscount : most === '' ? discount : summary.upTo(discount, most);
}

/** Describes the smallest order for which a coupon can be used. */
export function describeMinimum(minOrder: string | undefined): string {
  return Number(minOrder ?? 0) > 0 ? shortAmount(minOrder ?? 0) : words.coupons.anyOrder;
}

/** Describes who may use a coupon; `users` is the number of chosen customers who still exist. */
export function describeAudience(
  { isApplyForAll, isUserBased }: { readonly isApplyForAll: boolean; readonly isUserBased: boolean },
  users: number,
): string {
  if (isApplyForAll) return form.audiences.everyone;
  return isUserBased && users > 0 ? words.coupons.customers(users) : words.coupons.nobody;
}

/** Describes how often a coupon can be used by all customers together. */
export function describeUses({ maxUses }: Limits): string {
  return maxUses ? maxUses.toLocaleString('en') : words.coupons.noLimit;
}

/**
 * Returns whether a coupon can be used at a time in Unix ms.
 *
 * @param used how often it was used; undefined if that is not known.
 */
export function stateOf(
  { isInvalidated = false, startsAt, validTill, maxUses = 0 }: Limits & { readonly isInvalidated?: boolean },
  now: number,
  used = 0,
): keyof typeof states {
  if (isInvalidated) return 'ended';
  if (validTill !== undefined && timestampMs(validTill) < now) return 'expired';
  if (maxUses > 0 && used >= maxUses) return 'usedUp';
  return startsAt !== undefined && timestampMs(startsAt) > now ? 'scheduled' : 'active';
}

/** Names a batch of coupons. */
export function nameOfBatch({ id, name }: { readonly id: number; readonly name: string }): string {
  return isolate(name) || words.coupons.batches.named(id);
}

// Nobody reads more names than this.
const namedMost = 20;

/** Describes a field of a draft: its label in the form, and its value in words. */
export function describeField(field: keyof CouponDraft, draft: CouponDraft): readonly [label: string, value: string] {
  const { everyone, nobody } = form.audiences;
  const audience = { everyone, chosen: summary.chosen(namesOf(usersOf(draft))), nobody };
  const described: Readonly<Record<keyof CouponDraft, readonly [string, string]>> = {
    couponCode: [labels.code, draft.couponCode],
    discount: [labels.discount, describeDiscount(discountsOf(draft.discount))],
    minOrder: [labels.minOrder, draft.minOrder],
    maxValue: [labels.maxValue, draft.maxValue],
    startsAt: [labels.starts, draft.startsAt.replace('T', ' ')],
    validTill: [labels.ends, draft.validTill.replace('T', ' ')],
    audience: [labels.customers, audience[draft.audience]],
    users: [form.chosen, namesOf(draft.users)],
    products: [labels.products, draft.products.length === 0 ? words.coupon.allProducts : namesOf(draft.products)],
    maxLimitForUser: [labels.perCustomer, draft.maxLimitForUser],
    maxUses: [labels.uses, draft.maxUses],
    exclusiveApply: [labels.exclusive, draft.exclusiveApply ? words.coupon.yes : words.coupon.no],
  };
  return described[field];
}

function namesOf(chosen: readonly Chosen[]): string {
  if (chosen.length === 0) return summary.noneChosen;
  const names = chosen.slice(0, namedMost).map(({ id, name }) => name || summary.product(id));
  return names.join(', ') + (chosen.length > namedMost ? summary.more(chosen.length - namedMost) : '');
}
