import { readAmount, shortAmount } from '../../business/money.ts';
import { formatDate } from '../../business/time.tsx';
import { describeSkipped, readTimeInput } from '../../business/time-input.ts';
import { words } from '../../words.ts';
import { type CouponDraft, discountsOf, type TermsDraft } from '../record/draft.ts';

const text = words.coupon.concerns;

/**
 * Returns what is allowed but looks like a mistake in a coupon, at a time in Unix ms. What stands in `was` is not
 * questioned.
 */
export function concernsOf(draft: CouponDraft, now: number, was?: CouponDraft): string[] {
  const isForNobody = draft.audience === 'nobody' && was?.audience !== 'nobody';
  const isForMore = draft.audience === 'everyone' && was?.audience !== 'everyone';
  return [
    ...(isForNobody ? [text.nobody] : []),
    ...termsConcernsOf(draft, now, was, isForMore, text.gets[draft.audience](draft.users.length)),
    ...(isFree(draft) && !(was && isFree(was)) ? [text.free(shortAmount(mostOff(draft)))] : []),
  ];
}

/** Like `concernsOf`, for new coupons that differ in their codes only. */
export function batchConcernsOf(draft: CouponDraft, now: number): string[] {
  const isForAll = draft.audience === 'everyone' && !hasLimit(draft.maxUses);
  return [...concernsOf(draft, now), ...(isForAll ? [text.shared] : [])];
}

/** From this percentage on, a discount without a largest amount is asked about. */
const largePercent = 50;

/**
 * Like `concernsOf`, for the terms alone. `isForMore`: everyone may use from now on what they could not before; `gets`: who
 * gets the discount, as the start of a sentence.
 */
export function termsConcernsOf(
  draft: TermsDraft,
  now: number,
  was?: TermsDraft,
  isForMore = false,
  gets = text.gets.nobody(),
): string[] {
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
      ? [text.space(draft.couponCode.trim())]
      : []),
    ...(isOtherDiscount && percent > 100 ? [text.tooMuch(discountPercent)] : []),
    ...(isCostlier && isUncapped && percent >= largePercent && percent <= 100
      ? [describeCost(draft, percent, gets)]
      : []),
    ...(isOtherDiscount && percent + amount === 0 ? [text.nothing] : []),
    ...(isOtherEnd && end !== undefined && end.getTime() < now ? [text.ended(formatDate(end))] : []),
    ...((isOtherStart || isOtherEnd) && start !== undefined && end !== undefined && start >= end
      ? [text.never(formatDate(start))]
      : []),
    ...(isOtherStart ? describeSkipped(text.start, draft.startsAt) : []),
    ...(isOtherEnd ? describeSkipped(text.end, draft.validTill) : []),
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

function describeCost({ validTill, maxLimitForUser }: TermsDraft, percent: number, gets: string): string {
  return text.cost(gets, percent, validTill === '', !hasLimit(maxLimitForUser));
}
