import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { type CouponBodySchema, type CouponDetail, CouponDetailSchema } from '#gen/coupon/v1/coupon_service_pb';
import { readAmount } from '../../business/money.ts';
import { fromTimeInput, timeInput } from '../../business/time-input.ts';
import type { Option } from '../../forms/pick-many.tsx';
import { describeUser, isGone, nameOfProduct } from '../../lookup/names.ts';
import { isSame } from '../../rpc/merge.ts';
import { words } from '../../words.ts';

/** A product to which a coupon is limited: by a link unless told, by the coupon's list of product ids, or by both. */
type ChosenProduct = Option & { readonly isListed?: boolean; readonly isLinked?: boolean };
type Discount = CouponDraft['discount'];

/** A coupon in a form, or a reserved one, which is for nobody yet. Amounts are as typed; an empty text means none. */
export interface CouponDraft {
  readonly couponCode: string;
  /** Only the text of its kind counts. */
  readonly discount: { readonly kind: 'percent' | 'amount'; readonly percent: string; readonly amount: string };
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
  readonly audience: 'everyone' | 'chosen' | 'nobody';
  /** The users who may use the coupon if `audience` is `chosen`. */
  readonly users: readonly Option[];
}

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
        : { id: user.id, name: user.name || words.lookup.unknown, detail: user.mobile },
    ),
  };
}

function timeOf(at: Timestamp | undefined): string {
  return at === undefined ? '' : timeInput(timestampDate(at));
}

/** A draft with the values that the services use for absent fields (spec 4.2). */
export const blankDraft = draftOf(create(CouponDetailSchema));

/** The draft with which the form of a new coupon begins. */
export const newDraft: CouponDraft = { ...blankDraft, audience: 'everyone' };

/** Returns how many of a coupon's users still exist. */
export function usersLeft({ applicableUsers }: Pick<CouponDetail, 'applicableUsers'>): number {
  return applicableUsers.filter((user) => !isGone(user)).length;
}

/** Returns the products of a coupon that is not for all, as Redeem judges (design 13). Without a link, they have no name. */
export function productsOf(coupon: Pick<CouponDetail, 'applicableProducts' | 'productIds'>): ChosenProduct[] {
  const listed = new Set(coupon.productIds?.ids);
  const linked = coupon.applicableProducts.map((product) => ({
    id: product.id,
    name: nameOfProduct(product),
    ...(listed.has(product.id) && { isListed: true, isLinked: true }),
  }));
  for (const { id } of linked) listed.delete(id);
  return [...linked, ...[...listed].map((id) => ({ id, name: '', isListed: true }))];
}

type BodyInit = Exclude<MessageInitShape<typeof CouponBodySchema>, { $typeName: string }>;

/** The fields of a request. Those that stand together are sent together. An emptied amount or limit is 0. */
const parts: readonly ((draft: CouponDraft) => BodyInit)[] = [
  ({ couponCode }) => ({ couponCode }),
  ({ minOrder }) => ({ minOrder: readAmount(minOrder) }),
  ({ maxValue }) => ({ maxValue: readAmount(maxValue) }),
  ({ startsAt }) => ({ startsAt: fromTimeInput(startsAt) }),
  ({ validTill }) => ({ validTill: fromTimeInput(validTill) }),
  ({ maxLimitForUser }) => ({ maxLimitForUser: Number(maxLimitForUser) }),
  ({ maxUses }) => ({ maxUses: Number(maxUses) }),
  ({ exclusiveApply }) => ({ exclusiveApply }),
  ({ products }) => ({ productIds: idsOf(products.filter(isListed)) }),
  ({ products }) => ({ applicableProducts: idsOf(products.filter(isLinked)) }),
  ({ audience }) => ({ isApplyForAll: audience === 'everyone', isUserBased: audience === 'chosen' }),
  (draft) => ({ applicableUsers: idsOf(usersOf(draft)) }),
];

const idsOf = (chosen: readonly Option[]) => ({ ids: chosen.map(({ id }) => id) });
const isListed = (product: ChosenProduct) => product.isListed === true;
const isLinked = (product: ChosenProduct) => product.isLinked === true || !isListed(product);

/** Returns the fields that differ between two drafts, for the request. For a new coupon, `before` is `blankDraft`. */
export function changesOf(before: CouponDraft, after: CouponDraft): BodyInit {
  const typed = { ...after, couponCode: after.couponCode.trim() };
  const changed = parts.filter((part) => inOrder(part(before)) !== inOrder(part(typed)));
  return Object.assign(changedDiscount(before.discount, after.discount), ...changed.map((part) => part(typed)));
}

/** Writes a part of a request. The order of ids has no meaning. */
function inOrder(part: BodyInit): string {
  return JSON.stringify(part, (_name, value: unknown) => (Array.isArray(value) ? value.toSorted() : value));
}

/** Whether a request of these changes would change anything. */
export const isChange = (changes: BodyInit) => Object.keys(changes).length > 0;

/** Returns a discount's texts. The one of the other kind is empty, whatever was typed for it. */
export function discountsOf({ kind, percent, amount }: Discount) {
  return { discountPercent: kind === 'percent' ? percent : '', flatDiscount: kind === 'amount' ? amount : '' };
}

/** Returns the users of a draft's coupon. Chosen users don't count while it is for everyone or for nobody. */
export function usersOf({ audience, users }: CouponDraft): readonly Option[] {
  return audience === 'chosen' ? users : [];
}

/** A stored coupon may have both discounts. The unused one stays unless the one in use changes. */
function changedDiscount(before: Discount, after: Discount): BodyInit {
  const [had, has] = [before, after].map((each) => Object.values(discountsOf(each)).map(readAmount));
  if (isSame(had, has)) return {};
  const [discountPercent = 0, flatDiscount = 0] = has ?? [];
  return {
    ...(discountPercent !== readAmount(before.percent) && { discountPercent }),
    ...(flatDiscount !== readAmount(before.amount) && { flatDiscount }),
  };
}
