import { type Actor, actorOf, auditEntry, differing } from '../../../shared/audit/entry.ts';
import { etagMatches, freshWrite, type Guard, isAsSeen } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { commonErrors, fail, invalidField } from '../../../shared/errors/errors.ts';
import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type CouponRow, couponColumns, couponFields, toCoupon } from '../coupons/coupon.ts';
import { type CouponBody, readCouponBody } from '../coupons/coupon-body.ts';
import { couponErrors } from '../errors.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, update. One statement finds whether rules 2, 3 and 5 hold, and writes only when they do
 * (4 and 6): what is not given stays as it is.
 *
 * Throws INVALID_ARGUMENT for rules 1 to 3 and for products that do not exist, NOT_FOUND for rule 5,
 * ABORTED for an etag that is not the coupon's, ALREADY_EXISTS for a code that another coupon has.
 */
export function update({ database }: CouponParts): Handler<typeof CouponService.method.update> {
  return async ({ id, updates, etag }, call) => {
    const body = readCouponBody('updates.coupon', updates?.coupon);
    const { couponCode, isUserBased, applicableUsers } = body;
    // A ruling (design 7): a code can't become empty.
    if (couponCode === '') throw invalidField('updates.coupon.coupon_code', 'must not be empty');
    // 1
    if (body.discountPercent && body.flatDiscount) throw fail(couponErrors.twoDiscounts);
    const codeLocks = couponCode === undefined ? [] : [lockCouponCodes()];
    const needsUsers = isUserBased === true && !applicableUsers?.length;
    const { isInvalidated } = updates ?? {};
    const isChange = etag !== '' || [...Object.values(body), isInvalidated].some((value) => value !== undefined);
    const write = {
      ...actorOf(call),
      ...body,
      id,
      etag,
      isInvalidated,
      isChange,
      needsUsers,
      clearsProductIds: body.productIds === null,
      clearsValidTill: body.validTill === null,
    };
    const db = database.for(call);
    const found = await freshWrite((isLocked) => {
      const locks = isLocked ? [...codeLocks, lockCoupon({ id })] : codeLocks;
      return db.batch(locks, updateCoupon(write));
    }, couponErrors.couponCodeTaken);
    // 2
    if (needsUsers && !found.hasUsers) throw fail(couponErrors.usersRequired);
    // 3
    if (!found.usersExist) throw fail(couponErrors.usersNotFound);
    // 5
    if (!found.exists) throw fail(couponErrors.couponNotFound);
    if (!found.isCurrent) throw fail(commonErrors.etagMismatch);
    // Design 7: a code that another coupon has.
    if (!found.isCodeFree) throw fail(couponErrors.couponCodeTaken);
    // Products come after all rules of the spec (design 3).
    if (found.id === null) throw fail(couponErrors.productsNotFound);
    return { coupon: toCoupon(found) };
  };
}

const lockCoupon = statement<never, { id: number }>(
  'lockCoupon',
  'select from coupons where id = $id for no key update',
);

// Two updates that swap their codes would deadlock.
const lockCouponCodes = statement<never>('lockCouponCodes', `select pg_advisory_xact_lock(hashtext('coupon_code'))`);

interface CouponUpdates extends CouponBody, Actor, Guard {
  id: number;
  isInvalidated: boolean | undefined;
  /** False when nothing is given: the coupon keeps its etag. */
  isChange: boolean;
  /** Rule 2: the coupon has to have users already. */
  needsUsers: boolean;
  clearsProductIds: boolean;
  clearsValidTill: boolean;
}

type Found = {
  hasUsers: boolean;
  usersExist: boolean;
  exists: boolean;
  isCurrent: boolean;
  isCodeFree: boolean;
  mayWrite: boolean;
} & (CouponRow | { id: null });

/** SQL of the condition under which all rules hold, from the columns of `found`. */
const mayWrite = `(
  "isCurrent" and "usersExist" and "isCodeFree" and "productsExist" and ("hasUsers" or not $needsUsers::boolean))`;

// Lists that are null leave the links alone. The locks keep users and products from being deleted
// before their links are written.
const updateCoupon = statement<Found, CouponUpdates>(
  'update',
  `with seen as (select *, xmin from coupons where id = $id),
   known_users as (select id from users where id = any((select $applicableUsers::integer[])::integer[]) for key share),
   known_products as (select id from products where id = any((select $applicableProducts::integer[])::integer[]) for key share),
   found as (
     select
       exists (select from coupon_applicable_users where coupon_id = $id) as "hasUsers",
       (select count(*) from known_users) = coalesce(cardinality($applicableUsers::integer[]), 0) as "usersExist",
       exists (select from seen) as "exists",
       exists (select from seen where ${etagMatches('seen')}) as "isCurrent",
       not exists (select from coupons where coupon_code = $couponCode and id <> $id) as "isCodeFree",
       (select count(*) from known_products) = coalesce(cardinality($applicableProducts::integer[]), 0) as "productsExist"
   ),
   -- 4
   written as (
     update coupons set
       coupon_code = coalesce($couponCode, coupons.coupon_code),
       is_user_based = coalesce($isUserBased, coupons.is_user_based),
       discount_percent = coalesce($discountPercent, coupons.discount_percent),
       flat_discount = coalesce($flatDiscount, coupons.flat_discount),
       min_order = coalesce($minOrder, coupons.min_order),
       max_value = coalesce($maxValue, coupons.max_value),
       product_ids = case when $clearsProductIds then null else coalesce($productIds, coupons.product_ids) end,
       is_apply_for_all = coalesce($isApplyForAll, coupons.is_apply_for_all),
       valid_till = case when $clearsValidTill then null else coalesce($validTill, coupons.valid_till) end,
       max_limit_for_user = coalesce($maxLimitForUser, coupons.max_limit_for_user),
       exclusive_apply = coalesce($exclusiveApply, coupons.exclusive_apply),
       is_invalidated = coalesce($isInvalidated, coupons.is_invalidated),
       etag = case when $isChange then next_etag() else coupons.etag end
     from seen, found
     where ${isAsSeen('coupons')} and ${mayWrite}
     returning coupons.*
   ),
   -- 6
   unlinked_users as (
     delete from coupon_applicable_users using written
     where coupon_id = written.id and $applicableUsers is not null and user_id not in (select unnest((select $applicableUsers)))
   ),
   linked_users as (
     insert into coupon_applicable_users (coupon_id, user_id)
     select written.id, known_users.id from written, known_users
     order by known_users.id
     on conflict do nothing
   ),
   unlinked_products as (
     delete from coupon_applicable_products using written
     where coupon_id = written.id and $applicableProducts is not null
       and product_id not in (select unnest((select $applicableProducts)))
   ),
   linked_products as (
     insert into coupon_applicable_products (coupon_id, product_id)
     select written.id, known_products.id from written, known_products
     order by known_products.id
     on conflict do nothing
   ),
   ${auditEntry(
     'coupon',
     differing(
       `select id,
          json_build_object(
            ${couponFields('seen')},
            'applicableUsers', case when $applicableUsers is not null then array_to_json(array(
              select user_id from coupon_applicable_users where coupon_id = $id order by user_id
            )) end,
            'applicableProducts', case when $applicableProducts is not null then array_to_json(array(
              select product_id from coupon_applicable_products where coupon_id = $id order by product_id
            )) end
          ) as old,
          json_build_object(
            ${couponFields('written')},
            'applicableUsers', case when $applicableUsers is not null then array_to_json(array(
              select id from known_users order by id
            )) end,
            'applicableProducts', case when $applicableProducts is not null then array_to_json(array(
              select id from known_products order by id
            )) end
          ) as new
        from seen join written using (id)`,
     ),
   )}
   select found.*, ${mayWrite} as "mayWrite", ${couponColumns}
   from found left join written as coupons on true`,
);
