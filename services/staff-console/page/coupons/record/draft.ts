import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { CouponBodySchema, CouponDetail } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { fromTimeInput, timeInput } from '../../ui/time-input.ts';

/** A user or product that staff chose by its name. */
export interface Chosen {
  readonly id: number;
  readonly name: string;
  readonly detail?: string;
}

/** The terms of a coupon or reserved coupon in a form. Amounts are as typed; an empty text means none. */
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

/** A coupon in a form. */
export interface CouponDraft extends TermsDraft {
  readonly audience: 'everyone' | 'chosen' | 'nobody';
  /** The users who may use the coupon if `audience` is `chosen`. */
  readonly users: readonly Chosen[];
}

/** The draft of a new coupon, with the values that the services use for absent fields (spec 4.2). */
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

/** Returns the draft with which a coupon's form begins. */
export function draftOf(coupon: CouponDetail): CouponDraft {
  const { discountPercent = '', flatDiscount = '' } = coupon;
  return {
    couponCode: coupon.couponCode,
    // A percentage takes precedence over an amount, as in Validate (design 7).
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

/** The fields of a request. Undefined fields are not sent. */
export type BodyInit = Exclude<MessageInitShape<typeof CouponBodySchema>, { $typeName: string }>;

/**
 * Returns the fields that differ between two drafts, for the request. An update can't clear an amount, so an emptied
 * amount becomes 0. For a new coupon, `before` is `blankDraft`.
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

/** Like `changesOf`, for the terms alone. */
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

/** Returns a draft's discount of the chosen kind. The other kind is empty, whatever was typed for it. */
export function discountsOf(draft: TermsDraft): Pick<TermsDraft, 'discountPercent' | 'flatDiscount'> {
  return {
    discountPercent: draft.discountKind === 'percent' ? draft.discountPercent : '',
    flatDiscount: draft.discountKind === 'amount' ? draft.flatDiscount : '',
  };
}

/** Returns the users of a draft's coupon. Chosen users don't count while it is for everyone or for nobody. */
export function usersOf({ audience, users }: CouponDraft): readonly Chosen[] {
  return audience === 'chosen' ? users : [];
}

/** A stored coupon may have both discounts. The unused one stays unless the one in use changes. */
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

/** An emptied limit is not sent, because an update can't clear it, and 0 would itself be a limit. */
function changedLimit(before: string, after: string): number | undefined {
  return before === after || after === '' ? undefined : Number(after);
}

function changedIds(before: readonly Chosen[], after: readonly Chosen[]): { ids: number[] } | undefined {
  const had = new Set(before.map(({ id }) => id));
  const ids = after.map(({ id }) => id);
  return had.size === ids.length && ids.every((id) => had.has(id)) ? undefined : { ids };
}
