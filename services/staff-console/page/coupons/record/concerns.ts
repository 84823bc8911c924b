import { readAmount } from '../../business/money.ts';
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
  ];
}

/** From this percentage on, a discount without a largest amount is asked about. */
const largePercent = 50;

/** Like `concernsOf`, for the terms alone. `isForMore`: everyone may use from now on what they could not before. */
export function termsConcernsOf(draft: TermsDraft, now: number, was?: TermsDraft, isForMore = false): string[] {
  const { discountPercent, flatDiscount } = discountsOf(draft.discount);
  const had = was && discountsOf(was.discount);
  const [percent, amount] = [readAmount(discountPercent), readAmount(flatDiscount)];
  const isOtherDiscount = isForMore || discountPercent !== had?.discountPercent || flatDiscount !== had.flatDiscount;
  const end = readTimeInput(draft.validTill);
  const isUncapped = readAmount(draft.maxValue) === 0;
  const isCostlier = isOtherDiscount || draft.maxValue !== was?.maxValue;
  const isOtherEnd = draft.validTill !== was?.validTill;
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
    ...(isOtherEnd ? describeSkipped('The end of the coupon', draft.validTill) : []),
  ];
}

function describeCost({ validTill, maxLimitForUser }: TermsDraft, percent: number): string {
  const [end, uses] = [validTill === '', !(Number(maxLimitForUser) > 0)];
  return `Customers get ${percent} % off, without a largest discount${end ? ', without an end' : ''}${uses ? ', any number of times' : ''}.`;
}
