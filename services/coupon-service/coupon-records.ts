import { type Queryable, statement } from '../../shared/db/database.ts';
import { violates } from '../../shared/db/errors.ts';
import { fail } from '../../shared/rpc/errors.ts';
import { couponErrors } from './errors.ts';

/** The terms that coupons and reserved coupons share (spec 2.4, 2.5). Amounts are decimals. */
export interface TermsRow {
  discountPercent: string | null;
  flatDiscount: string | null;
  minOrder: string | null;
  maxValue: string | null;
  productIds: number[] | null;
  validTill: Date | null;
  maxLimitForUser: number | null;
  exclusiveApply: boolean;
}

/** The coupon record (spec 2.4). */
export interface CouponRow extends TermsRow {
  id: number;
  couponCode: string;
  isUserBased: boolean;
  isApplyForAll: boolean;
  isInvalidated: boolean;
  createdBy: number;
  createdAt: Date;
}

export const couponColumns = `
  coupons.id, coupons.coupon_code as "couponCode", coupons.is_user_based as "isUserBased",
  coupons.discount_percent as "discountPercent", coupons.flat_discount as "flatDiscount",
  coupons.min_order as "minOrder", coupons.max_value as "maxValue", coupons.product_ids as "productIds",
  coupons.is_apply_for_all as "isApplyForAll", coupons.valid_till as "validTill",
  coupons.max_limit_for_user as "maxLimitForUser", coupons.exclusive_apply as "exclusiveApply",
  coupons.is_invalidated as "isInvalidated", coupons.created_by as "createdBy", coupons.created_at as "createdAt"`;

/** A coupon to be stored; what is left out is null, false or empty. */
export interface NewCoupon {
  readonly couponCode: string;
  readonly createdBy: number;
  readonly isUserBased?: boolean | undefined;
  /** Numbers are stored as their shortest decimals, strings as they are. */
  readonly discountPercent?: number | undefined;
  readonly flatDiscount?: number | string | undefined;
  readonly minOrder?: number | string | undefined;
  readonly maxValue?: number | string | undefined;
  readonly productIds?: readonly number[] | null | undefined;
  readonly isApplyForAll?: boolean | undefined;
  readonly validTill?: Date | null | undefined;
  /** Instead of `validTill`: how long from now, by the database's clock, in days of 24 hours. */
  readonly validForDays?: number | undefined;
  readonly maxLimitForUser?: number | undefined;
  readonly exclusiveApply?: boolean | undefined;
  readonly applicableUsers?: readonly number[] | undefined;
  readonly applicableProducts?: readonly number[] | undefined;
}

// Products are locked while they are looked up, so that none goes before its link stands.
const insertCouponRow = statement<CouponRow & { linkedProducts: number }>(
  'insertCoupon',
  `with coupons as (
     insert into coupons (
       coupon_code, created_by, is_user_based, discount_percent, flat_discount, min_order, max_value, product_ids,
       is_apply_for_all, valid_till, max_limit_for_user, exclusive_apply
     )
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9,
       coalesce($10::timestamptz, now() + $11::integer * interval '24 hours'), $12, $13)
     on conflict (coupon_code) do nothing
     returning *
   ),
   known_products as (select id from products where id = any($15::integer[]) for key share),
   linked_users as (
     insert into coupon_applicable_users (coupon_id, user_id)
     select coupons.id, given.id
     from coupons, (select distinct unnest($14::integer[]) as id) as given
     order by given.id
   ),
   linked_products as (
     insert into coupon_applicable_products (coupon_id, product_id)
     select coupons.id, known_products.id from coupons, known_products
     order by known_products.id
     returning product_id
   )
   select ${couponColumns}, (select count(*) from linked_products)::integer as "linkedProducts" from coupons`,
);

/**
 * Stores a coupon with its links. The users must be known to exist.
 *
 * @returns undefined when the code is taken, also by a call that ran at the same time: the unique
 * constraint judges.
 * @throws INVALID_ARGUMENT when a product does not exist, UNAUTHENTICATED when the staff user does not.
 */
export async function insertCoupon(tx: Queryable, coupon: NewCoupon): Promise<CouponRow | undefined> {
  const products = new Set(coupon.applicableProducts);
  const [stored] = await tx
    .query(insertCouponRow, [
      coupon.couponCode,
      coupon.createdBy,
      coupon.isUserBased ?? false,
      coupon.discountPercent,
      coupon.flatDiscount,
      coupon.minOrder,
      coupon.maxValue,
      coupon.productIds,
      coupon.isApplyForAll ?? false,
      coupon.validTill?.toISOString(),
      coupon.validForDays,
      coupon.maxLimitForUser,
      coupon.exclusiveApply ?? false,
      coupon.applicableUsers ?? [],
      [...products],
    ])
    .catch((error: unknown) => {
      // The staff user was there a moment ago.
      throw violates(error, 'couponCreator') ? fail(couponErrors.unauthorized) : error;
    });
  if (stored !== undefined && stored.linkedProducts < products.size) throw fail(couponErrors.productsNotFound);
  return stored;
}

const knownUserCount = statement<{ count: number }>(
  'knownUsers',
  `select count(*)::integer as count
   from (select id from users where id = any($1) for key share) as known`,
);

/** Throws INVALID_ARGUMENT unless all users exist; none of them can go before the transaction ends. */
export async function requireUsers(tx: Queryable, userIds: readonly number[] | undefined): Promise<void> {
  const distinct = [...new Set(userIds)];
  if (distinct.length === 0) return;
  const [known] = await tx.query(knownUserCount, [distinct]);
  if (known?.count !== distinct.length) throw fail(couponErrors.usersNotFound);
}
