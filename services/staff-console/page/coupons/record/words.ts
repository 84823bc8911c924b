import { timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Coupon } from '#gen/coupon/v1/coupon_service_pb';
import { readAmount, shortAmount } from '../../business/money.ts';
import { formatTime } from '../../business/time.tsx';
import { readTimeInput } from '../../business/time-input.ts';
import type { Option } from '../../forms/pick-many.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { type CouponDraft, discountsOf, usersOf } from './draft.ts';

const { form, summary } = words.coupon;
const { states } = words.coupons;

/** The views of the coupons, by their paths. */
export const couponViews = [
  ['/coupons', words.coupons.title],
  ['/coupons/reserved', words.coupons.reserved.tab],
  ['/coupons/batches', words.coupons.batches.title],
] as const;

type Amounts = 'discountPercent' | 'flatDiscount' | 'maxValue' | 'minOrder';
type Limits = 'startsAt' | 'validTill' | 'maxLimitForUser' | 'maxUses' | 'exclusiveApply';

/** The terms of a coupon, a reserved coupon, or what stands in their forms. 0 and an empty text mean none. */
export type Terms = Readonly<Partial<Pick<Coupon, Amounts | Limits>>>;

/** Returns a discount and its largest amount, such as "10%" and "₹150"; empty texts for none. */
function discountOf({ discountPercent = '', flatDiscount = '', maxValue = '' }: Terms): readonly [string, string] {
  const [percent, amount, most] = [readAmount(discountPercent), readAmount(flatDiscount), readAmount(maxValue)];
  if (percent > 0) return [`${percent}%`, most > 0 ? shortAmount(most) : ''];
  return amount > 0 ? [shortAmount(amount), most > 0 && most < amount ? shortAmount(most) : ''] : ['', ''];
}

/** Describes a coupon's discount, such as "10% up to ₹150". */
export function describeDiscount(terms: Terms): string {
  const [discount, most] = discountOf(terms);
  return discount === '' ? summary.noDiscount : most === '' ? discount : summary.upTo(discount, most);
}

/** Describes the smallest order for which a coupon can be used. */
export function describeMinimum(minOrder = '0'): string {
  return Number(minOrder) > 0 ? shortAmount(minOrder) : words.coupons.anyOrder;
}

/** Describes who may use a coupon; `users` is the number of chosen customers who still exist. */
export function describeAudience(coupon: Pick<Coupon, 'isApplyForAll' | 'isUserBased'>, users: number): string {
  if (coupon.isApplyForAll) return form.audiences.everyone;
  return coupon.isUserBased && users > 0 ? words.coupons.customers(users) : words.coupons.nobody;
}

/** Describes how often a coupon can be used by all customers together. */
export function describeUses({ maxUses }: Terms): string {
  return maxUses ? maxUses.toLocaleString('en') : words.noLimit;
}

/** Describes terms, for how many products they are, and for whom: "10% off, up to ₹150, for everyone, once each." */
export function describeTerms(terms: Terms, who = '', products = 0): string {
  const { startsAt, validTill, maxLimitForUser = 0, maxUses = 0 } = terms;
  const [discount, most] = discountOf(terms);
  const minOrder = readAmount(terms.minOrder ?? '');
  const when = [startsAt && summary.from(formatTime(startsAt)), validTill && summary.until(formatTime(validTill))];
  const parts = [
    discount === '' ? summary.noDiscount : summary.off(discount),
    most && summary.most(most),
    minOrder > 0 && summary.minOrder(shortAmount(minOrder)),
    who,
    products > 0 && summary.products(products),
    maxLimitForUser > 0 && summary.each(maxLimitForUser),
    when.filter(Boolean).join(' '),
    maxUses > 0 && summary.uses(maxUses),
    terms.exclusiveApply && summary.exclusive,
  ];
  return `${parts.filter(Boolean).join(', ')}.`;
}

/** Says in a sentence what a form will make. What is no amount or time yet is none. */
export function describeDraft(draft: CouponDraft, who = summary.audiences[draft.audience](draft.users.length)): string {
  const [start, end] = [draft.startsAt, draft.validTill].map(readTimeInput);
  const terms = {
    ...{ ...draft, ...discountsOf(draft.discount) },
    startsAt: start && timestampFromDate(start),
    validTill: end && timestampFromDate(end),
    maxLimitForUser: Number(draft.maxLimitForUser),
    maxUses: Number(draft.maxUses),
  };
  return describeTerms(terms, who, draft.products.length);
}

/** What tells whether a coupon can be used. */
export type Usable = Terms & { readonly isInvalidated?: boolean };

/** Returns whether a coupon can be used at a time in Unix ms; `used`: how often it was, if that is known. */
export function stateOf(coupon: Usable, now: number, used = 0): keyof typeof states {
  const { isInvalidated, startsAt, validTill, maxUses = 0 } = coupon;
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
    couponCode: [words.fields.couponCode, draft.couponCode],
    discount: [words.fields.discountAmount, describeDiscount(discountsOf(draft.discount))],
    minOrder: [words.fields.minOrder, draft.minOrder && shortAmount(readAmount(draft.minOrder))],
    maxValue: [words.fields.maxValue, draft.maxValue && shortAmount(readAmount(draft.maxValue))],
    startsAt: [words.fields.startsAt, draft.startsAt.replace('T', ' ')],
    validTill: [words.fields.validTill, draft.validTill.replace('T', ' ')],
    audience: [words.fields.applicableUsers, audience[draft.audience]],
    users: [form.chosen, namesOf(draft.users)],
    products: [
      words.fields.productIds,
      draft.products.length === 0 ? words.coupon.allProducts : namesOf(draft.products),
    ],
    maxLimitForUser: [words.fields.maxLimitForUser, draft.maxLimitForUser],
    maxUses: [words.fields.maxUses, draft.maxUses],
    exclusiveApply: [words.fields.exclusiveApply, draft.exclusiveApply ? words.yes : words.no],
  };
  return described[field];
}

function namesOf(chosen: readonly Option[]): string {
  if (chosen.length === 0) return summary.noneChosen;
  const names = chosen.slice(0, namedMost).map(({ id, name }) => name || summary.product(id));
  return names.join(', ') + (chosen.length > namedMost ? summary.more(chosen.length - namedMost) : '');
}
