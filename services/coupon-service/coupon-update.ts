import { type BoundStatement, bind, type Connection, statement } from '../../shared/db/database.ts';
import { violates } from '../../shared/db/errors.ts';
import { fail } from '../../shared/errors/errors.ts';
import { type CouponBody, type CouponRow, couponColumns, type Written, writtenRow } from './coupon-records.ts';
import { couponErrors } from './errors.ts';

/** What update may change; what is undefined stays as it is. */
export interface CouponUpdates extends CouponBody {
  readonly isInvalidated: boolean | undefined;
}

// Before the statement that reads the links: one that waits for another update would still see the
// links as they were before it.
const lockCoupon = statement<{ id: number }>('lockCoupon', 'select id from coupons where id = $1 for update');

// Two updates that swap codes would wait for each other's for ever.
const lockCouponCodes = statement<never>('lockCouponCodes', `select pg_advisory_xact_lock(hashtext('coupon_code'))`);

// Lists that are null leave their links alone, by the words "is not null". Users and products are
// locked while they are looked up, so that none goes before its link stands.
const updateCouponRow = statement<Written<CouponRow>>(
  'updateCoupon',
  `with known_users as (select id from users where id = any($17::integer[]) for key share),
   known_products as (select id from products where id = any($18::integer[]) for key share),
   checked as (
     select case
       -- 2
       when $16::boolean and not exists (select from coupon_applicable_users where coupon_id = $1) then '${couponErrors.usersRequired.reason}'
       -- 3
       when (select count(*) from known_users) < cardinality($17::integer[]) then '${couponErrors.usersNotFound.reason}'
       -- 5
       when not exists (select from coupons where id = $1) then '${couponErrors.couponNotFound.reason}'
       when exists (select from coupons where coupon_code = $2 and id <> $1) then '${couponErrors.couponCodeTaken.reason}'
       when (select count(*) from known_products) < cardinality($18::integer[]) then '${couponErrors.productsNotFound.reason}'
     end as refusal
   ),
   written as (
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
     where id = $1 and (select refusal is null from checked)
     returning *
   ),
   unlinked_users as (
     delete from coupon_applicable_users using written
     where coupon_id = written.id and $17 is not null and user_id not in (select unnest($17))
   ),
   linked_users as (
     insert into coupon_applicable_users (coupon_id, user_id)
     select written.id, known_users.id from written, known_users
     order by known_users.id
     on conflict do nothing
   ),
   unlinked_products as (
     delete from coupon_applicable_products using written
     where coupon_id = written.id and $18 is not null and product_id not in (select unnest($18))
   ),
   linked_products as (
     insert into coupon_applicable_products (coupon_id, product_id)
     select written.id, known_products.id from written, known_products
     order by known_products.id
     on conflict do nothing
   )
   select refusal, ${couponColumns} from checked left join written as coupons on true`,
);

/**
 * Spec 4.2, update: one statement, which writes only when no rule is broken, behind the locks that
 * it needs.
 *
 * @returns the record as it is stored now.
 * @throws INVALID_ARGUMENT for rules 1 to 3 and for products that do not exist, NOT_FOUND for rule 5,
 * ALREADY_EXISTS for a code that another coupon has.
 */
export async function updateCoupon(db: Connection, id: number, updates: CouponUpdates): Promise<CouponRow> {
  const { applicableUsers, applicableProducts, productIds, validTill } = updates;
  // 1
  if (updates.discountPercent && updates.flatDiscount) throw fail(couponErrors.twoDiscounts);
  const locks: BoundStatement<unknown>[] = [];
  if (updates.couponCode !== undefined) locks.push(bind(lockCouponCodes, []));
  const readsOrReplacesLinks = updates.isUserBased || applicableUsers !== undefined || applicableProducts !== undefined;
  if (readsOrReplacesLinks) locks.push(bind(lockCoupon, [id]));
  // 2 to 6
  const values = [
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
    updates.isUserBased === true && !applicableUsers?.length,
    applicableUsers,
    applicableProducts,
  ];
  const rows = await db.batch(locks, bind(updateCouponRow, values)).catch((error: unknown) => {
    // A call at the same time came first.
    throw violates(error, 'couponCode') ? fail(couponErrors.couponCodeTaken) : error;
  });
  return writtenRow(rows, couponErrors.couponNotFound);
}
