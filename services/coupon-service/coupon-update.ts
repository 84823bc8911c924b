import { type Queryable, statement } from '../../shared/db/database.ts';
import { violates } from '../../shared/db/errors.ts';
import { fail } from '../../shared/rpc/errors.ts';
import { type CouponRow, couponColumns, requireUsers } from './coupon-records.ts';
import type { CouponBody } from './coupons.ts';
import { couponErrors } from './errors.ts';

/** What update may change; what is undefined stays as it is. */
export interface CouponUpdates extends CouponBody {
  readonly isInvalidated: boolean | undefined;
}

// Before anything is read of the links: a statement that waits for another update would still see
// the links as they were before it.
const lockCoupon = statement<{ id: number }>('lockCoupon', 'select id from coupons where id = $1 for update');

// Two updates that swap codes would wait for each other's for ever.
const lockCouponCodes = statement<never>('lockCouponCodes', `select pg_advisory_xact_lock(hashtext('coupon_code'))`);

const applicableUserExists = statement<{ exists: boolean }>(
  'applicableUserExists',
  'select exists (select from coupon_applicable_users where coupon_id = $1) as exists',
);

// Lists that are null leave their links alone: nothing equals, and nothing differs from, any null.
const updateCouponRow = statement<CouponRow & { knownProducts: number }>(
  'updateCoupon',
  `with coupons as (
     update coupons set
       coupon_code = coalesce($2, coupon_code),
       is_user_based = coalesce($3, is_user_based),
       discount_percent = coalesce($4, discount_percent),
       flat_discount = coalesce($5, flat_discount),
       min_order = coalesce($6, min_order),
       max_value = coalesce($7, max_value),
       product_ids = case when $8 then null else coalesce($9, product_ids) end,
       is_apply_for_all = coalesce($10, is_apply_for_all),
       valid_till = case when $11 then null else coalesce($12, valid_till) end,
       max_limit_for_user = coalesce($13, max_limit_for_user),
       exclusive_apply = coalesce($14, exclusive_apply),
       is_invalidated = coalesce($15, is_invalidated)
     where id = $1
     returning *
   ),
   known_products as (select id from products where id = any($17::integer[]) for key share),
   unlinked_users as (
     delete from coupon_applicable_users where coupon_id = $1 and user_id <> all($16::integer[])
   ),
   linked_users as (
     insert into coupon_applicable_users (coupon_id, user_id)
     select coupons.id, given.id
     from coupons, (select distinct unnest($16::integer[]) as id) as given
     order by given.id
     on conflict do nothing
   ),
   unlinked_products as (
     delete from coupon_applicable_products where coupon_id = $1 and product_id <> all($17::integer[])
   ),
   linked_products as (
     insert into coupon_applicable_products (coupon_id, product_id)
     select coupons.id, known_products.id from coupons, known_products
     order by known_products.id
     on conflict do nothing
   )
   select ${couponColumns}, (select count(*) from known_products)::integer as "knownProducts" from coupons`,
);

/**
 * Spec 4.2, update.
 *
 * @returns the record as it is stored now.
 * @throws INVALID_ARGUMENT for rules 1 to 3 and for products that do not exist, NOT_FOUND for rule 5,
 * ALREADY_EXISTS for a code that another coupon has.
 */
export async function updateCoupon(tx: Queryable, id: number, updates: CouponUpdates): Promise<CouponRow> {
  const { applicableUsers, applicableProducts, productIds, validTill } = updates;
  // 1
  if (updates.discountPercent && updates.flatDiscount) throw fail(couponErrors.twoDiscounts);
  if (updates.couponCode !== undefined) await tx.query(lockCouponCodes);
  const readsOrReplacesLinks = updates.isUserBased || applicableUsers !== undefined || applicableProducts !== undefined;
  if (readsOrReplacesLinks) await tx.query(lockCoupon, [id]);
  // 2
  if (updates.isUserBased && !applicableUsers?.length) {
    const [linked] = await tx.query(applicableUserExists, [id]);
    if (!linked?.exists) throw fail(couponErrors.usersRequired);
  }
  // 3
  await requireUsers(tx, applicableUsers);
  // 4 and 6
  const products = applicableProducts && [...new Set(applicableProducts)];
  const [stored] = await tx
    .query(updateCouponRow, [
      id,
      updates.couponCode,
      updates.isUserBased,
      updates.discountPercent,
      updates.flatDiscount,
      updates.minOrder,
      updates.maxValue,
      productIds === null,
      productIds,
      updates.isApplyForAll,
      validTill === null,
      validTill?.toISOString(),
      updates.maxLimitForUser,
      updates.exclusiveApply,
      updates.isInvalidated,
      applicableUsers,
      products,
    ])
    .catch((error: unknown) => {
      throw violates(error, 'couponCode') ? fail(couponErrors.couponCodeTaken) : error;
    });
  // 5
  if (stored === undefined) throw fail(couponErrors.couponNotFound);
  if (stored.knownProducts < (products?.length ?? 0)) throw fail(couponErrors.productsNotFound);
  return stored;
}
