import { formatAmount, readAmount } from '../../business/money.ts';
import { formatDate } from '../../business/time.tsx';
import { describeSkipped, readTimeInput } from '../../business/time-input.ts';
import { type CouponDraft, discountsOf, type TermsDraft } from './draft.ts';

/**
 * Returns what is allowed but looks like a mistake in a coupon, at a time in Unix ms. What stands in `was` is not
 * questioned.
 */
export function concernsOf(draft: CouponDraft, now: number, was?: CouponDraft): string[] {
  const isForNobody = draft.audience === 'nobody' && was?.audience !== 'nobody';
  const isForMore = draft.audience === 'everyone' && was?.audience !== 'everyone';
  return [
    ...(isForNobody ? ['The coupon is for nobody: no one can use it until you say for whom it is.'] : []),
    ...termsConcernsOf(draft, now, was, isForMore),
    ...(isFree(draft) && !(was && isFree(was))
      ? [`Orders up to ${formatAmount(mostOff(draft))} cost nothing, without an end.`]
      : []),
  ];
}

/** Like `concernsOf`, for new coupons that differ in their codes only. */
export function batchConcernsOf(draft: CouponDraft, now: number): string[] {
  const isForAll = draft.audience === 'everyone' && !hasLimit(draft.maxUses);
  return [...concernsOf(draft, now), ...(isForAll ? ['Everybody who learns a code can use it.'] : [])];
}

/** From this percentage on, a discount without a largest amount is asked about. */
const largePercent = 50;

/** Like `concernsOf`, for the terms alone. `isForMore`: everyone may use from now on what they could not before. */
export function termsConcernsOf(draft: TermsDraft, now: number, was?: TermsDraft, isForMore = false): string[] {
  const { discountPercent, flatDiscount } = discountsOf(draft.discount);
  const had = was && discountsOf(was.discount);
  const [percent, amount] = [readAmount(discountPercent), readAmount(flatDiscount)];
  const isOtherDiscount = isForMore || discountPercent !== had?.discountPercent || flatDiscount !== had.flatDiscount;
  const isOtherStart = draft.startsAt !== was?.startsAt;
  const isOtherEnd = draft.validTill !== was?.validTill;
  const end = readTimeInput(draft.validTill);
  const start = readTimeInput(draft.startsAt);
  const isUncapped = readAmount(draft.maxValue) === 0 && !hasLimit(draft.maxUses);
  const isCostlier =
    isOtherDiscount ||
    draft.maxValue !== was?.maxValue ||
    draft.maxUses !== was.maxUses ||
    (draft.maxLimitForUser !== was.maxLimitForUser && !hasLimit(draft.maxLimitForUser)) ||
    (isOtherEnd && end === undefined);
  return [
    ...(draft.couponCode !== was?.couponCode && /\s/.test(draft.couponCode.trim())
      ? [`The code “${draft.couponCode.trim()}” has a space in it.`]
      : []),
    ...(isOtherDiscount && percent > 100 ? [`${discountPercent} % is more than the whole order.`] : []),
    ...(isCostlier && isUncapped && percent >= largePercent && percent <= 100 ? [describeCost(draft, percent)] : []),
    ...(isOtherDiscount && percent + amount === 0 ? ['The coupon takes nothing off an order.'] : []),
    ...(isOtherEnd && end !== undefined && end.getTime() < now
      ? [`The coupon has ended already: ${formatDate(end)}.`]
      : []),
    ...((isOtherStart || isOtherEnd) && start !== undefined && end !== undefined && start >= end
      ? [`The coupon starts when it has ended already, on ${formatDate(start)}: nobody can ever use it.`]
      : []),
    ...(isOtherStart ? describeSkipped('The start of the coupon', draft.startsAt) : []),
    ...(isOtherEnd ? describeSkipped('The end of the coupon', draft.validTill) : []),
  ];
}

const hasLimit = (limit: string) => Number(limit) > 0;

/** The amount that a coupon with a flat discount takes off; 0 for a percentage. */
function mostOff({ discount, maxValue }: TermsDraft): number {
  const amount = readAmount(discountsOf(discount).flatDiscount);
  return Math.min(amount, readAmount(maxValue) || amount);
}

/** Whether an amount makes the smallest orders free for everyone, without an end and a limit of all uses. */
function isFree(draft: CouponDraft): boolean {
  const isOpen = draft.audience === 'everyone' && draft.validTill === '' && !hasLimit(draft.maxUses);
  return isOpen && mostOff(draft) > readAmount(draft.minOrder);
}

function describeCost({ validTill, maxLimitForUser }: TermsDraft, percent: number): string {
  const [end, uses] = [validTill === '', !hasLimit(maxLimitForUser)];
  return `Customers get ${percent} % off, without a largest discount${end ? ', without an end' : ''}${uses ? ', any number of times' : ''}.`;
}
