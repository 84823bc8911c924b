import { statement } from '../../../shared/db/statement.ts';
import { invalidField } from '../../../shared/errors/errors.ts';
import type { RedeemRequest } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { type NamedUser, namedUser } from '../../../shared/holds/named-user.ts';
import { type Decimal, decimal, least, round, toNumericText } from '../coupons/decimals.ts';
import { type JudgedCoupon, judgedColumns, orderDiscountOf } from '../coupons/judgement.ts';

// What Redeem and Check read of a coupon, for an order (design 13, 16).

type RequestedProducts = Pick<RedeemRequest, 'productIds' | 'lines'>;

/** The products of an order: lists of the same length, or ids alone. */
export interface Products {
  /** 0: the product has an external id instead. Undefined: the request does not say the products. */
  readonly productIds: readonly number[] | undefined;
  readonly externalIds: readonly string[];
  /** Decimals. */
  readonly amounts: readonly string[];
}

/**
 * Returns an amount of an order as the currency has it: 61.959999999999994, a sum of doubles, is 61.96. Without digits of
 * a currency, it stays to the letter.
 */
export const readAmount = (amount: number, digits: number | undefined): Decimal =>
  round(decimal(amount), digits, 'half up');

/**
 * Returns the products of an order, with amounts as `readAmount` does. Throws INVALID_ARGUMENT for a request with products
 * and lines, and for a line that names its product in both ways or in none.
 */
export function readProducts({ productIds, lines }: RequestedProducts, digits: number | undefined): Products {
  if (lines.length === 0)
    return { productIds: productIds.length > 0 ? productIds : undefined, externalIds: [], amounts: [] };
  if (productIds.length > 0) throw invalidField('lines', 'must not be given beside product_ids');
  for (const [at, { productId, productExternalId }] of lines.entries()) {
    if (!productId && productExternalId === '') throw invalidField(`lines[${at}].product_id`, 'value is required');
    if (productId && productExternalId !== '')
      throw invalidField(`lines[${at}].product_external_id`, 'must not be given beside product_id');
  }
  return {
    productIds: lines.map(({ productId = 0 }) => productId),
    externalIds: lines.map(({ productExternalId }) => productExternalId),
    amounts: lines.map(({ amount }) => toNumericText(readAmount(amount, digits))),
  };
}

/** The coupon of a code, for an order. */
export interface CouponForOrder extends JudgedCoupon {
  isInvalidated: boolean;
  isNotForUser: boolean | null;
  isNotForProducts: boolean | null;
  isExclusive: boolean;
  /** How many live redemptions a user may have; 0: no limit. */
  maxUsesOfUser: number;
  /** How many live redemptions all users may have; 0: no limit. */
  maxUses: number;
  /** Whether it applies to certain products alone. */
  isLimited: boolean;
  /** A decimal: the sum of the lines with these products; null without lines. */
  eligibleAmount: string | null;
  /** Changes with each change of the coupon. */
  version: string;
}

/**
 * Returns the discount of an order (design 16), at most its amount, if it says that; undefined if it does not say what the
 * discount is computed of.
 *
 * @param digits to round it to, if any.
 */
export function discountFor(
  coupon: CouponForOrder,
  { amounts, orderAmount }: { readonly amounts: readonly string[]; readonly orderAmount: Decimal | undefined },
  digits: number | undefined,
): Decimal | undefined {
  const amount = coupon.isLimited && amounts.length > 0 ? decimal(coupon.eligibleAmount ?? 0) : orderAmount;
  return amount && least(orderDiscountOf(coupon, amount, digits), orderAmount ?? amount);
}

interface Asked extends NamedUser, Products {
  couponCode: string;
}

/**
 * Reads the user of an order, and the coupon of a code. Without a user or products, what asks for them is null. For a
 * user that there is not, it looks up no products, so that it takes as long for a code that exists as for another one.
 */
export const selectForOrder = statement<{ userId: number | null } & (CouponForOrder | { id: null }), Asked>(
  'couponForOrder',
  `select one.user_id as "userId", coupon.*
   from (select ${namedUser} as user_id) as one left join lateral (
     select ${judgedColumns}, is_invalidated as "isInvalidated", exclusive_apply as "isExclusive",
       coalesce(max_limit_for_user, 0) as "maxUsesOfUser", coalesce(max_uses, 0) as "maxUses", coupons.xmin::text as version,
       not is_apply_for_all and case when one.user_id is not null then not exists (
         select from coupon_applicable_users where coupon_id = coupons.id and user_id = one.user_id
       ) end as "isNotForUser",
       is_limited and case when $productIds::integer[] is not null then eligible.lines = 0 end as "isNotForProducts",
       is_limited as "isLimited", eligible.amount as "eligibleAmount"
     from coupons cross join lateral (
       select (one.user_id is not null or num_nonnulls($userId::integer, $userExternalId::text) = 0)
         and (coalesce(cardinality(product_ids), 0) > 0 or exists (
           select from coupon_applicable_products where coupon_id = coupons.id
         )) as is_limited
     ) as limits left join lateral (
       select count(*) as lines, trim_scale(sum(amount)) as amount
       from (
         select case when external_id <> '' then (select id from products where external_id = line.external_id)
           else product_id end as id, amount
         from unnest($productIds::integer[], $externalIds::text[], $amounts::numeric[]) as line (product_id, external_id, amount)
         offset 0
       ) as given
       where is_limited and (id in (select unnest(product_ids)) or exists (
         select from coupon_applicable_products where (coupon_id, product_id) = (coupons.id, given.id)
       ))
     ) as eligible on true
     where coupon_code = $couponCode
   ) as coupon on true`,
);
