import { readAmount, shortAmount } from '../../business/money.ts';
import { formatDate, formatDay } from '../../business/time.tsx';
import { describeSkipped, readTimeInput } from '../../business/time-input.ts';
import { words } from '../../words.ts';
import { type CouponDraft, discountsOf } from '../record/draft.ts';

const text = words.coupon.concerns;

/** What a form makes: a coupon, many that differ in their codes only, or one that a customer claims; or a coupon's change. */
export type FormKind = 'new' | 'edit' | 'batch' | 'reserved';

/** From this percentage on, a discount without a largest amount is asked about. */
const largePercent = 50;

/** Returns what is allowed but looks like a mistake, at a time in Unix ms. In an edit, what was stored is not questioned. */
export function concernsOf(kind: FormKind, draft: CouponDraft, first: CouponDraft, now: number): string[] {
  const was = kind === 'edit' ? first : undefined;
  const { audience, users, startsAt, validTill, maxValue, maxUses, maxLimitForUser } = draft;
  const isOther = (name: keyof CouponDraft) => draft[name] !== was?.[name];
  const code = draft.couponCode.trim();
  const { discountPercent, flatDiscount } = discountsOf(draft.discount);
  const [percent, amount] = [readAmount(discountPercent), readAmount(flatDiscount)];
  const had = was && discountsOf(was.discount);
  const [start, end] = [startsAt, validTill].map(readTimeInput);
  const isForMore = audience === 'everyone' && isOther('audience');
  const isOtherDiscount = isForMore || discountPercent !== had?.discountPercent || flatDiscount !== had.flatDiscount;
  const isCostlier =
    isOtherDiscount ||
    isOther('maxValue') ||
    isOther('maxUses') ||
    (isOther('maxLimitForUser') && !hasLimit(maxLimitForUser)) ||
    (isOther('validTill') && end === undefined);
  const isUncapped = readAmount(maxValue) === 0 && !hasLimit(maxUses);
  const isLarge = percent >= largePercent && percent <= 100;
  const gets = text.gets[audience](users.length);
  return [
    kind !== 'reserved' && audience === 'nobody' && isOther('audience') && text.nobody,
    was !== undefined && isOther('couponCode') && text.renamed(was.couponCode),
    isOther('couponCode') && /\s/.test(code) && text.space(code),
    isOtherDiscount && percent > 100 && text.tooMuch(discountPercent),
    isCostlier && isUncapped && isLarge && text.cost(gets, percent, validTill === '', !hasLimit(maxLimitForUser)),
    isOtherDiscount && percent + amount === 0 && text.nothing,
    isOther('validTill') && end !== undefined && end.getTime() < now && text.ended(formatDate(end)),
    isOther('validTill') && end && validTill.endsWith('T00:00') && text.endsAtMidnight(formatDay(end)),
    (isOther('startsAt') || isOther('validTill')) && start && end && start >= end && text.never(formatDate(start)),
    ...(isOther('startsAt') ? describeSkipped(text.start, startsAt) : []),
    ...(isOther('validTill') ? describeSkipped(text.end, validTill) : []),
    isFree(draft) && !(was && isFree(was)) && text.free(shortAmount(mostOff(draft))),
    kind === 'batch' && audience === 'everyone' && !hasLimit(maxUses) && text.shared,
  ].filter((concern) => typeof concern === 'string');
}

const hasLimit = (limit: string) => Number(limit) > 0;

/** The amount that a coupon with a flat discount takes off; 0 for a percentage. */
function mostOff({ discount, maxValue }: CouponDraft): number {
  const amount = readAmount(discountsOf(discount).flatDiscount);
  return Math.min(amount, readAmount(maxValue) || amount);
}

/** Whether an amount makes the smallest orders free for everyone, without an end and a limit of all uses. */
function isFree(draft: CouponDraft): boolean {
  const isOpen = draft.audience === 'everyone' && draft.validTill === '' && !hasLimit(draft.maxUses);
  return isOpen && mostOff(draft) > readAmount(draft.minOrder);
}
