import { type Queryable, statement } from '../../shared/db/database.ts';
import { violates } from '../../shared/db/errors.ts';
import { fail } from '../../shared/errors/errors.ts';
import { newReservedCouponCode, newSecretCode } from './codes.ts';
import { type CouponBody, requireOneDiscount, type TermsRow, type Written, writtenRow } from './coupon-records.ts';
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

// Products are locked while they are looked up, so that none goes before its link stands.
const createReservedCouponRow = statement<Written<ReservedCouponRow>>(
  'createReservedCoupon',
  `with known_products as (select id from products where id = any($12::integer[]) for key share),
   checked as (
     select case
       -- 2
       when not exists (select from staff_users where id = $11 and disabled_at is null) then '${couponErrors.unauthorized.reason}'
       -- 3
       when exists (select from reserved_coupons where secret_code = $1) then '${couponErrors.secretCodeTaken.reason}'
       -- 6
       when (select count(*) from known_products) < cardinality($12::integer[]) then '${couponErrors.productsNotFound.reason}'
     end as refusal
   ),
   written as (
     insert into reserved_coupons (
       secret_code, coupon_code, discount_percent, flat_discount, min_order, max_value, product_ids, valid_till,
       max_limit_for_user, exclusive_apply, created_by
     )
     select $1, $2::text, $3::numeric, $4::numeric, $5::numeric, $6::numeric, $7::integer[], $8::timestamptz,
       $9::integer, $10::boolean, $11
     from checked where refusal is null
     -- A call at the same time may have come first.
     on conflict (secret_code) do nothing
     returning *
   ),
   linked_products as (
     insert into reserved_coupon_applicable_products (reserved_coupon_id, product_id)
     select written.id, known_products.id from written, known_products
     order by known_products.id
   )
   select refusal, ${reservedColumns} from checked left join written as reserved on true`,
);

/**
 * Spec 4.2, createReservedCoupon: one statement, which writes only when no rule is broken.
 *
 * @returns the stored reserved coupon.
 * @throws INVALID_ARGUMENT for rule 1 and for products that do not exist, UNAUTHENTICATED for rule 2,
 * ALREADY_EXISTS for a secret code that is taken.
 */
export async function createReservedCoupon(
  db: Queryable,
  body: CouponBody,
  staffId: number | undefined,
): Promise<ReservedCouponRow> {
  // 1
  requireOneDiscount(body);
  // 2
  if (staffId === undefined) throw fail(couponErrors.unauthorized);
  // 3 to 6
  const now = Date.now();
  const values = [
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
    body.applicableProducts ?? [],
  ];
  const rows = await db.query(createReservedCouponRow, values).catch((error: unknown) => {
    // The staff user was there a moment ago.
    throw violates(error, 'reservedCouponCreator') ? fail(couponErrors.unauthorized) : error;
  });
  return writtenRow(rows, couponErrors.secretCodeTaken);
}
