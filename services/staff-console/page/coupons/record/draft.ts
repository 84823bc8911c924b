import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { CouponBodySchema, CouponDetail } from '#gen/coupon/v1/coupon_service_pb';
import { readAmount } from '../../business/money.ts';
import { fromTimeInput, timeInput } from '../../business/time-input.ts';
import { describeUser, isGone, nameOfProduct } from '../../lookup/gone.ts';

/** A user or product that staff chose by its name. */
export interface Chosen {
  readonly id: number;
  readonly name: string;
  readonly detail?: string;
}

/** A product to which a coupon is limited: by a link unless told, by the coupon's list of product ids, or by both. */
export interface ChosenProduct extends Chosen {
  readonly isListed?: boolean;
  readonly isLinked?: boolean;
}

/** The terms of a coupon or reserved coupon in a form. Amounts are as typed; an empty text means none. */
export interface TermsDraft {
  readonly couponCode: string;
  readonly discount: Discount;
  readonly minOrder: string;
  readonly maxValue: string;
  /** The texts of time fields. */
  readonly startsAt: string;
  readonly validTill: string;
  readonly maxLimitForUser: string;
  /** The uses of all customers together. */
  readonly maxUses: string;
  readonly exclusiveApply: boolean;
  readonly products: readonly ChosenProduct[];
}

/** A discount in a form. Only the text of its kind counts. */
export interface Discount {
  readonly kind: 'percent' | 'amount';
  readonly percent: string;
  readonly amount: string;
}

/** A coupon in a form. */
export interface CouponDraft extends TermsDraft {
  readonly audience: 'everyone' | 'chosen' | 'nobody';
  /** The users who may use the coupon if `audience` is `chosen`. */
  readonly users: readonly Chosen[];
}

/** A draft with the values that the services use for absent fields (spec 4.2). */
export const blankDraft: CouponDraft = {
  couponCode: '',
  discount: { kind: 'percent', percent: '', amount: '' },
  minOrder: '',
  maxValue: '',
  startsAt: '',
  validTill: '',
  maxLimitForUser: '',
  maxUses: '',
  exclusiveApply: false,
  products: [],
  audience: 'nobody',
  users: [],
};

/** The draft with which the form of a new coupon begins. */
export const newDraft: CouponDraft = { ...blankDraft, audience: 'everyone' };

/** Returns the draft with which a coupon's form begins. */
export function draftOf(coupon: CouponDetail): CouponDraft {
  const { discountPercent: percent = '', flatDiscount: amount = '' } = coupon;
  // A percentage takes precedence over an amount, as in Validate (design 7).
  const kind = Number(percent) === 0 && Number(amount) > 0 ? 'amount' : 'percent';
  return {
    couponCode: coupon.couponCode,
    discount: { kind, percent, amount },
    minOrder: coupon.minOrder ?? '',
    maxValue: coupon.maxValue ?? '',
    startsAt: timeOf(coupon.startsAt),
    validTill: timeOf(coupon.validTill),
    maxLimitForUser: String(coupon.maxLimitForUser ?? ''),
    maxUses: String(coupon.maxUses ?? ''),
    exclusiveApply: coupon.exclusiveApply,
    products: productsOf(coupon),
    audience: coupon.isApplyForAll ? 'everyone' : coupon.isUserBased ? 'chosen' : 'nobody',
    users: coupon.applicableUsers.map((user) =>
      isGone(user)
        ? { id: user.id, name: describeUser(user) }
        : { id: user.id, name: user.name || 'Unknown', detail: user.mobile },
    ),
  };
}

const timeOf = (at: Timestamp | undefined) => (at === undefined ? '' : timeInput(timestampDate(at)));

/** Returns how many of a coupon's users still exist. */
export function usersLeft({ applicableUsers }: Pick<CouponDetail, 'applicableUsers'>): number {
  return applicableUsers.filter((user) => !isGone(user)).length;
}

/**
 * Returns the products to which a coupon is limited, by its links and by its list of ids together, as Redeem judges
 * (design 13); none if it is for all. The name of one that is only in the list is empty.
 */
export function productsOf({
  applicableProducts,
  productIds,
}: Pick<CouponDetail, 'applicableProducts' | 'productIds'>): ChosenProduct[] {
  const listed = new Set(productIds?.ids);
  const linked = applicableProducts.map((product) => ({
    id: product.id,
    name: nameOfProduct(product),
    ...(listed.has(product.id) && { isListed: true, isLinked: true }),
  }));
  for (const { id } of linked) listed.delete(id);
  return [...linked, ...[...listed].map((id) => ({ id, name: '', isListed: true }))];
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
    ...changedDiscount(before.discount, after.discount),
    minOrder: changedAmount(before.minOrder, after.minOrder),
    maxValue: changedAmount(before.maxValue, after.maxValue),
    startsAt: changedTime(before.startsAt, after.startsAt),
    validTill: changedTime(before.validTill, after.validTill),
    maxLimitForUser: changedLimit(before.maxLimitForUser, after.maxLimitForUser),
    maxUses: changedLimit(before.maxUses, after.maxUses),
    exclusiveApply: before.exclusiveApply === after.exclusiveApply ? undefined : after.exclusiveApply,
    productIds: changedIds(before.products.filter(isListed), after.products.filter(isListed)),
    applicableProducts: changedIds(before.products.filter(isLinked), after.products.filter(isLinked)),
  };
}

const isListed = (product: ChosenProduct) => product.isListed === true;
const isLinked = (product: ChosenProduct) => product.isLinked === true || !isListed(product);

/** Whether a request of these changes would change anything. */
export function isChange(changes: BodyInit): boolean {
  return Object.values(changes).some((value) => value !== undefined);
}

/** Returns a discount's texts. The one of the other kind is empty, whatever was typed for it. */
export function discountsOf({ kind, percent, amount }: Discount) {
  return { discountPercent: kind === 'percent' ? percent : '', flatDiscount: kind === 'amount' ? amount : '' };
}

/** Returns the users of a draft's coupon. Chosen users don't count while it is for everyone or for nobody. */
export function usersOf({ audience, users }: CouponDraft): readonly Chosen[] {
  return audience === 'chosen' ? users : [];
}

/** A stored coupon may have both discounts. The unused one stays unless the one in use changes. */
function changedDiscount(before: Discount, after: Discount): BodyInit {
  const [had, has] = [discountsOf(before), discountsOf(after)];
  const isSame =
    changedAmount(had.discountPercent, has.discountPercent) === undefined &&
    changedAmount(had.flatDiscount, has.flatDiscount) === undefined;
  if (isSame) return {};
  return {
    discountPercent: changedAmount(before.percent, has.discountPercent),
    flatDiscount: changedAmount(before.amount, has.flatDiscount),
  };
}

function changedAmount(before: string, after: string): number | undefined {
  return readAmount(before) === readAmount(after) ? undefined : readAmount(after);
}

function changedTime(before: string, after: string): string | undefined {
  return before === after ? undefined : fromTimeInput(after);
}

/** An emptied limit is 0, which means no limit. */
function changedLimit(before: string, after: string): number | undefined {
  return before === after ? undefined : Number(after);
}

function changedIds(before: readonly Chosen[], after: readonly Chosen[]): { ids: number[] } | undefined {
  const had = new Set(before.map(({ id }) => id));
  const ids = after.map(({ id }) => id);
  return had.size === ids.length && ids.every((id) => had.has(id)) ? undefined : { ids };
}
