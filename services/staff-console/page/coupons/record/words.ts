import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { type CouponDraft, discountsOf, usersOf } from './draft.ts';

/** The discounts of a coupon. Amounts are decimals; 0 or an empty text means none. */
export interface Discounts {
  readonly discountPercent?: string | undefined;
  readonly flatDiscount?: string | undefined;
  readonly maxValue?: string | undefined;
}

/** Describes a coupon's discount, such as "10 % off, at most 150". */
export function describeDiscount({ discountPercent, flatDiscount, maxValue }: Discounts): string {
  const [percent, amount, most] = [Number(discountPercent ?? 0), Number(flatDiscount ?? 0), Number(maxValue ?? 0)];
  if (percent > 0) return `${discountPercent} % off${most > 0 ? `, at most ${maxValue}` : ''}`;
  if (amount > 0) return `${flatDiscount} off${most > 0 && most < amount ? `, at most ${maxValue}` : ''}`;
  return 'No discount';
}

/** Describes the smallest order for which a coupon can be used. */
export function describeMinimum(minOrder: string | undefined): string {
  return Number(minOrder ?? 0) > 0 ? (minOrder ?? '') : 'Any order';
}

/** Describes who may use a coupon; `users` is the number of chosen users. */
export function describeAudience(
  { isApplyForAll, isUserBased }: { readonly isApplyForAll: boolean; readonly isUserBased: boolean },
  users: number,
): string {
  if (isApplyForAll) return 'Everyone';
  return isUserBased && users > 0 ? `${users} ${users === 1 ? 'user' : 'users'}` : 'Nobody';
}

/** Returns whether a coupon can be used at a time in Unix ms. */
export function stateOf(
  {
    isInvalidated = false,
    validTill,
  }: { readonly isInvalidated?: boolean; readonly validTill?: Timestamp | undefined },
  now: number,
): 'Valid' | 'Expired' | 'Invalidated' {
  if (isInvalidated) return 'Invalidated';
  return validTill !== undefined && timestampMs(validTill) < now ? 'Expired' : 'Valid';
}

// Nobody reads more names than this.
const namedMost = 20;

/** Describes the fields of a draft in words, by the form's labels. */
export function describeDraft(draft: CouponDraft): Readonly<Record<string, string>> {
  const audience = { everyone: 'Everyone', chosen: namesOf(usersOf(draft)), nobody: 'Nobody yet' };
  return {
    Code: draft.couponCode,
    Discount: describeDiscount(discountsOf(draft)),
    'Smallest order': draft.minOrder,
    'Largest discount': draft.maxValue,
    'Valid until': draft.validTill.replace('T', ' '),
    'For whom': audience[draft.audience],
    Products: draft.products.length === 0 ? 'All' : namesOf(draft.products),
    'Uses for each user': draft.maxLimitForUser,
    'Not with other coupons': draft.exclusiveApply ? 'Yes' : 'No',
  };
}

function namesOf(chosen: readonly { readonly name: string }[]): string {
  if (chosen.length === 0) return 'Nobody chosen';
  const names = chosen.slice(0, namedMost).map(({ name }) => name);
  return names.join(', ') + (chosen.length > namedMost ? ` and ${chosen.length - namedMost} more` : '');
}
