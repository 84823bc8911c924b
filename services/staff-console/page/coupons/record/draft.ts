import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { CouponBodySchema, CouponDetail } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { fromTimeInput, timeInput } from '../../ui/time-input.ts';

/** Somebody or something that was chosen by its name. */
export interface Chosen {
  readonly id: number;
  readonly name: string;
  readonly detail?: string;
}

/** The terms of a coupon or reserved coupon as a form holds them: amounts as they were typed, empty for none. */
export interface TermsDraft {
  readonly couponCode: string;
  readonly discountKind: 'percent' | 'amount';
  readonly discountPercent: string;
  readonly flatDiscount: string;
  readonly minOrder: string;
  readonly maxValue: string;
  /** In this browser's time zone, such as 2026-11-23T14:30. */
  readonly validTill: string;
  readonly maxLimitForUser: string;
  readonly exclusiveApply: boolean;
  readonly products: readonly Chosen[];
}

/** A coupon as a form holds it. */
export interface CouponDraft extends TermsDraft {
  readonly audience: 'everyone' | 'chosen' | 'nobody';
  /** Who may use it, where the audience is chosen. */
  readonly users: readonly Chosen[];
}

/** What a new coupon begins with: what the services take an absent field for (spec 4.2). */
export const blankDraft: CouponDraft = {
  couponCode: '',
  discountKind: 'percent',
  discountPercent: '',
  flatDiscount: '',
  minOrder: '',
  maxValue: '',
  validTill: '',
  maxLimitForUser: '',
  exclusiveApply: false,
  products: [],
  audience: 'nobody',
  users: [],
};

/** Returns a coupon as the form for it begins. */
export function draftOf(coupon: CouponDetail): CouponDraft {
  const { discountPercent = '', flatDiscount = '' } = coupon;
  return {
    couponCode: coupon.couponCode,
    // A percentage counts before an amount, as in Validate (design 7).
    discountKind: Number(discountPercent) === 0 && Number(flatDiscount) > 0 ? 'amount' : 'percent',
    discountPercent,
    flatDiscount,
    minOrder: coupon.minOrder ?? '',
    maxValue: coupon.maxValue ?? '',
    validTill: coupon.validTill === undefined ? '' : timeInput(timestampDate(coupon.validTill)),
    maxLimitForUser: String(coupon.maxLimitForUser ?? ''),
    exclusiveApply: coupon.exclusiveApply,
    products: coupon.applicableProducts.map(({ id, name }) => ({ id, name })),
    audience: coupon.isApplyForAll ? 'everyone' : coupon.isUserBased ? 'chosen' : 'nobody',
    users: coupon.applicableUsers.map(({ id, name, mobile }) => ({ id, name: name || 'Unknown', detail: mobile })),
  };
}

/** The fields of a request; those that are undefined are not sent. */
export type BodyInit = Exclude<MessageInitShape<typeof CouponBodySchema>, { $typeName: string }>;

/**
 * Returns what a request has to say so that one draft becomes another: only what differs. An update can't clear an amount, so one
 * that was emptied is 0. A new coupon is what differs from `blankDraft`.
 */
export function changesOf(before: CouponDraft, after: CouponDraft): BodyInit {
  const isOtherAudience = before.audience !== after.audience;
  return {
    ...termsChangesOf(before, after),
    isApplyForAll: isOtherAudience ? after.audience === 'everyone' : undefined,
    isUserBased: isOtherAudience ? after.audience === 'chosen' : undefined,
    applicableUsers: changedIds(usersOf(before), usersOf(after)),
  };
}

/** As `changesOf`, for the terms alone. */
export function termsChangesOf(before: TermsDraft, after: TermsDraft): BodyInit {
  const couponCode = after.couponCode.trim();
  return {
    couponCode: before.couponCode === couponCode ? undefined : couponCode,
    ...changedDiscount(before, after),
    minOrder: changedAmount(before.minOrder, after.minOrder),
    maxValue: changedAmount(before.maxValue, after.maxValue),
    validTill: before.validTill === after.validTill ? undefined : fromTimeInput(after.validTill),
    maxLimitForUser: changedLimit(before.maxLimitForUser, after.maxLimitForUser),
    exclusiveApply: before.exclusiveApply === after.exclusiveApply ? undefined : after.exclusiveApply,
    applicableProducts: changedIds(before.products, after.products),
  };
}

/** Whether a request of these changes would change anything. */
export function isChange(changes: BodyInit): boolean {
  return Object.values(changes).some((value) => value !== undefined);
}

/** The discounts of a draft: that of the other kind is none, whatever was typed for it. */
export function discountsOf(draft: TermsDraft): Pick<TermsDraft, 'discountPercent' | 'flatDiscount'> {
  return {
    discountPercent: draft.discountKind === 'percent' ? draft.discountPercent : '',
    flatDiscount: draft.discountKind === 'amount' ? draft.flatDiscount : '',
  };
}

/** Who may use the coupon of a draft: the chosen users do not count while it is for everyone or for nobody. */
export function usersOf({ audience, users }: CouponDraft): readonly Chosen[] {
  return audience === 'chosen' ? users : [];
}

/** A coupon may have a discount of each kind. The one that does not count stays, unless the one that counts changes. */
function changedDiscount(before: TermsDraft, after: TermsDraft): BodyInit {
  const [had, has] = [discountsOf(before), discountsOf(after)];
  const isSame =
    changedAmount(had.discountPercent, has.discountPercent) === undefined &&
    changedAmount(had.flatDiscount, has.flatDiscount) === undefined;
  if (isSame) return {};
  return {
    discountPercent: changedAmount(before.discountPercent, has.discountPercent),
    flatDiscount: changedAmount(before.flatDiscount, has.flatDiscount),
  };
}

function changedAmount(before: string, after: string): number | undefined {
  return Number(before) === Number(after) ? undefined : Number(after);
}

/** A limit that was emptied is not sent: an update can't clear it, and 0 is a limit of its own. */
function changedLimit(before: string, after: string): number | undefined {
  return before === after || after === '' ? undefined : Number(after);
}

function changedIds(before: readonly Chosen[], after: readonly Chosen[]): { ids: number[] } | undefined {
  const had = new Set(before.map(({ id }) => id));
  const ids = after.map(({ id }) => id);
  return had.size === ids.length && ids.every((id) => had.has(id)) ? undefined : { ids };
}
