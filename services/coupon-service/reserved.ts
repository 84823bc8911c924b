import { type Queryable, statement } from '../../shared/db/database.ts';
import { violates } from '../../shared/db/errors.ts';
import { fail } from '../../shared/rpc/errors.ts';
import { newReservedCouponCode, newSecretCode } from './codes.ts';
import type { TermsRow } from './coupon-records.ts';
import { type CouponBody, requireOneDiscount } from './coupons.ts';
import { couponErrors } from './errors.ts';

/** The reserved-coupon record (spec 2.5). */
export interface ReservedCouponRow extends TermsRow {
  id: number;
  secretCode: string;
  couponCode: string;
  createdBy: number;
  createdAt: Date;
}

export const reservedColumns = `
  reserved.id, reserved.secret_code as "secretCode", reserved.coupon_code as "couponCode",
  reserved.discount_percent as "discountPercent", reserved.flat_discount as "flatDiscount",
  reserved.min_order as "minOrder", reserved.max_value as "maxValue", reserved.product_ids as "productIds",
  reserved.valid_till as "validTill", reserved.max_limit_for_user as "maxLimitForUser",
  reserved.exclusive_apply as "exclusiveApply", reserved.created_by as "createdBy", reserved.created_at as "createdAt"`;

const insertReservedCoupon = statement<ReservedCouponRow & { linkedProducts: number }>(
  'insertReservedCoupon',
  `with reserved as (
     insert into reserved_coupons (
       secret_code, coupon_code, discount_percent, flat_discount, min_order, max_value, product_ids, valid_till,
       max_limit_for_user, exclusive_apply, created_by
     )
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (secret_code) do nothing
     returning *
   ),
   known_products as (select id from products where id = any($12::integer[]) for key share),
   linked_products as (
     insert into reserved_coupon_applicable_products (reserved_coupon_id, product_id)
     select reserved.id, known_products.id from reserved, known_products
     order by known_products.id
     returning product_id
   )
   select ${reservedColumns}, (select count(*) from linked_products)::integer as "linkedProducts" from reserved`,
);

/**
 * Spec 4.2, createReservedCoupon.
 *
 * @returns the stored reserved coupon.
 * @throws INVALID_ARGUMENT for rule 1 and for products that do not exist, UNAUTHENTICATED for rule 2,
 * ALREADY_EXISTS for a secret code that is taken.
 */
export async function createReservedCoupon(
  tx: Queryable,
  body: CouponBody,
  staffId: number | undefined,
): Promise<ReservedCouponRow> {
  // 1
  requireOneDiscount(body);
  // 2
  if (staffId === undefined) throw fail(couponErrors.unauthorized);
  // 3 to 6
  const now = Date.now();
  const products = new Set(body.applicableProducts);
  const [stored] = await tx
    .query(insertReservedCoupon, [
      body.couponCode || newSecretCode(now),
      body.couponCode || newReservedCouponCode(now),
      body.discountPercent,
      body.flatDiscount,
      body.minOrder,
      body.maxValue,
      body.productIds,
      body.validTill?.toISOString(),
      body.maxLimitForUser,
      body.exclusiveApply ?? false,
      staffId,
      [...products],
    ])
    .catch((error: unknown) => {
      // The staff user was there a moment ago.
      throw violates(error, 'reservedCouponCreator') ? fail(couponErrors.unauthorized) : error;
    });
  if (stored === undefined) throw fail(couponErrors.secretCodeTaken);
  if (stored.linkedProducts < products.size) throw fail(couponErrors.productsNotFound);
  return stored;
}
