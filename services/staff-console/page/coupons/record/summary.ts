import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { readAmount, shortAmount } from '../../business/money.ts';
import { formatTime } from '../../business/time.tsx';
import { readTimeInput } from '../../business/time-input.ts';
import { words } from '../../words.ts';
import { type CouponDraft, discountsOf, type TermsDraft } from './draft.ts';
import { discountOf, type Terms } from './words.ts';

const { summary } = words.coupon;

/** Returns the terms that stand in a form. What is no amount or time yet is none. */
export function termsOf(draft: TermsDraft): Terms {
  const [start, end] = [draft.startsAt, draft.validTill].map(readTimeInput);
  return {
    ...discountsOf(draft.discount),
    maxValue: draft.maxValue,
    minOrder: draft.minOrder,
    startsAt: start && timestampFromDate(start),
    validTill: end && timestampFromDate(end),
    maxLimitForUser: Number(draft.maxLimitForUser),
    maxUses: Number(draft.maxUses),
    exclusiveApply: draft.exclusiveApply,
  };
}

/**
 * Describes terms, such as "10% off, up to ₹150, for everyone, once each, at most 500 uses".
 *
 * @param who for whom they are, such as "for everyone".
 * @param products the number of products to which they are limited; 0 for none.
 */
export function describeTerms(terms: Terms, who = '', products = 0): string {
  const [discount, most] = discountOf(terms);
  const minOrder = readAmount(terms.minOrder ?? '');
  return [
    discount === '' ? summary.noDiscount : summary.off(discount),
    most && summary.most(most),
    minOrder > 0 && summary.minOrder(shortAmount(minOrder)),
    who,
    products > 0 && summary.products(products),
    terms.maxLimitForUser && terms.maxLimitForUser > 0 && summary.each(terms.maxLimitForUser),
    [
      terms.startsAt && summary.from(formatTime(terms.startsAt)),
      terms.validTill && summary.until(formatTime(terms.validTill)),
    ]
      .filter(Boolean)
      .join(' '),
    terms.maxUses && terms.maxUses > 0 && summary.uses(terms.maxUses),
    terms.exclusiveApply === true && summary.exclusive,
  ]
    .filter(Boolean)
    .join(', ');
}

/** Says in a sentence what a form will make. */
export function describeDraft(draft: CouponDraft): string {
  return describeTermsDraft(draft, summary.audiences[draft.audience](draft.users.length));
}

/** Like `describeDraft`, for terms alone; `who` says for whom they are. */
export function describeTermsDraft(draft: TermsDraft, who: string): string {
  return `${describeTerms(termsOf(draft), who, draft.products.length)}.`;
}
