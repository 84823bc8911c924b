import { type Queryable, statement } from '../../shared/db/database.ts';
import { violates } from '../../shared/db/errors.ts';
import { fail } from '../../shared/errors/errors.ts';
import { newCouponCode } from './codes.ts';
import {
  type CouponBody,
  type CouponRow,
  couponColumns,
  type Issuer,
  requireOneDiscount,
  type Written,
  writtenRow,
} from './coupon-records.ts';
import { couponErrors } from './errors.ts';

const knownUserCount = statement<{ count: number }>(
  'knownUsers',
  'select count(*)::integer as count from users where id = any($1)',
);

// Users and products are locked while they are looked up, so that none goes before its link stands.
const createCouponRow = statement<Written<CouponRow>>(
  'createCoupon',
  `with known_users as (select id from users where id = any($13::integer[]) for key share),
   known_products as (select id from products where id = any($14::integer[]) for key share),
   checked as (
     select case
       -- 4
       when (select count(*) from known_users) < cardinality($13::integer[]) then '${couponErrors.usersNotFound.reason}'
       -- 5
       when not exists (select from staff_users where id = $2 and disabled_at is null) then '${couponErrors.unauthorized.reason}'
       -- 7
       when exists (select from coupons where coupon_code = $1) then '${couponErrors.couponCodeTaken.reason}'
       when (select count(*) from known_products) < cardinality($14::integer[]) then '${couponErrors.productsNotFound.reason}'
     end as refusal
   ),
   written as (
     insert into coupons (
       coupon_code, created_by, is_user_based, discount_percent, flat_discount, min_order, max_value, product_ids,
       is_apply_for_all, valid_till, max_limit_for_user, exclusive_apply
     )
     select $1, $2, $3::boolean, $4::numeric, $5::numeric, $6::numeric, $7::numeric, $8::integer[],
       $9::boolean, $10::timestamptz, $11::integer, $12::boolean
     from checked where refusal is null
     -- A call at the same time may have come first.
     on conflict (coupon_code) do nothing
     returning *
   ),
   linked_users as (
     insert into coupon_applicable_users (coupon_id, user_id)
     select written.id, known_users.id from written, known_users
     order by known_users.id
   ),
   linked_products as (
     insert into coupon_applicable_products (coupon_id, product_id)
     select written.id, known_products.id from written, known_products
     order by known_products.id
   )
   select refusal, ${couponColumns} from checked left join written as coupons on true`,
);

/**
 * Spec 4.2, create: one statement, which writes only when no rule is broken.
 *
 * @returns the stored coupon.
 * @throws INVALID_ARGUMENT for rules 1 to 4 and for products that do not exist, UNAUTHENTICATED for
 * rule 5, ALREADY_EXISTS for a code that is taken.
 */
export async function createCoupon(db: Queryable, body: CouponBody, issuer: Issuer): Promise<CouponRow> {
  const { isUserBased = false, isApplyForAll = false } = body;
  const users = body.applicableUsers ?? [];
  // 1
  requireOneDiscount(body);
  // 2
  if (isUserBased && users.length === 0 && !isApplyForAll) throw fail(couponErrors.usersOrAllRequired);
  // 3
  if (isUserBased && isApplyForAll) throw fail(couponErrors.userBasedAndForAll);
  // 4 comes before 5, also for a caller who will get no further.
  const { staffId } = issuer;
  if (staffId === undefined) {
    await requireUsers(db, users);
    throw fail(couponErrors.unauthorized);
  }
  // 4 to 7
  const values = [
    // 6
    body.couponCode || newCouponCode(issuer.codePrefix, Date.now()),
    staffId,
    isUserBased,
    body.discountPercent,
    body.flatDiscount,
    body.minOrder,
    body.maxValue,
    body.productIds,
    isApplyForAll,
    body.validTill?.toISOString(),
    body.maxLimitForUser,
    body.exclusiveApply ?? false,
    users,
    body.applicableProducts ?? [],
  ];
  const rows = await db.query(createCouponRow, values).catch((error: unknown) => {
    // The staff user was there a moment ago.
    throw violates(error, 'couponCreator') ? fail(couponErrors.unauthorized) : error;
  });
  return writtenRow(rows, couponErrors.couponCodeTaken);
}

async function requireUsers(db: Queryable, userIds: readonly number[]): Promise<void> {
  if (userIds.length === 0) return;
  const [known] = await db.query(knownUserCount, [userIds]);
  if (known?.count !== userIds.length) throw fail(couponErrors.usersNotFound);
}
