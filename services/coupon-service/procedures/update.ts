import { type Actor, actorOf, auditEntry, changeOf, differing, keptRecord } from '../../../shared/audit/entry.ts';
import { conditionalWrite, etagMatches, type Guard, isAsSeen } from '../../../shared/db/races.ts';
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
    const needsUsers = isUserBased === true && !applicableUsers?.length;
    const write = {
      ...actorOf(call),
      ...body,
      id,
      etag,
      isInvalidated: updates?.isInvalidated,
      needsUsers,
      clearsProductIds: body.productIds === null,
      clearsValidTill: body.validTill === null,
    };
    const db = database.for(call);
    const found = await conditionalWrite((isRerun) =>
      db.batch(isRerun ? [lockCoupon({ id, couponCode })] : [], updateCoupon(write)),
    );
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

// Two updates that give each other's codes to their coupons would deadlock again: those that change a code go one by one.
const lockCoupon = statement<never, { id: number; couponCode: string | undefined }>(
  'lockCoupon',
  `with codes as materialized (
     select pg_advisory_xact_lock(hashtext('coupon_code')) from coupons where id = $id and coupon_code <> $couponCode
   )
   select from coupons, (select count(*) from codes) as locked where id = $id for no key update of coupons`,
);

interface CouponUpdates extends CouponBody, Actor, Guard {
  id: number;
  isInvalidated: boolean | undefined;
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

/** There may be 100,000: to compare them as an array takes a tenth of the time that it takes as JSON. */
const productIdsIfChanged = (row: 'seen' | 'wanted') =>
  `case when seen.product_ids is distinct from wanted.product_ids then to_json(${row}.product_ids) end`;

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
       exists (select from seen where ${etagMatches}) as "isCurrent",
       not exists (select from coupons where coupon_code = $couponCode and id <> $id) as "isCodeFree",
       (select count(*) from known_products) = coalesce(cardinality($applicableProducts::integer[]), 0) as "productsExist"
   ),
   -- 4
   wanted as (
     select id, created_by, created_at,
       coalesce($couponCode, coupon_code) as coupon_code,
       coalesce($isUserBased, is_user_based) as is_user_based,
       coalesce($discountPercent, discount_percent) as discount_percent,
       coalesce($flatDiscount, flat_discount) as flat_discount,
       coalesce($minOrder, min_order) as min_order,
       coalesce($maxValue, max_value) as max_value,
       case when not $clearsProductIds::boolean then coalesce($productIds, product_ids) end as product_ids,
       coalesce($isApplyForAll, is_apply_for_all) as is_apply_for_all,
       case when not $clearsValidTill::boolean then coalesce($validTill, valid_till) end as valid_till,
       coalesce($maxLimitForUser, max_limit_for_user) as max_limit_for_user,
       coalesce($exclusiveApply, exclusive_apply) as exclusive_apply,
       coalesce($isInvalidated, is_invalidated) as is_invalidated
     from seen, found where ${mayWrite}
   ),
   ${changeOf(
     differing(
       `select id,
          json_build_object(
            ${couponFields('seen')}, 'productIds', ${productIdsIfChanged('seen')},
            'applicableUsers', case when $applicableUsers is not null then array_to_json(array(
              select user_id from coupon_applicable_users where coupon_id = $id order by user_id
            )) end,
            'applicableProducts', case when $applicableProducts is not null then array_to_json(array(
              select product_id from coupon_applicable_products where coupon_id = $id order by product_id
            )) end
          ) as old,
          json_build_object(
            ${couponFields('wanted')}, 'productIds', ${productIdsIfChanged('wanted')},
            'applicableUsers', case when $applicableUsers is not null then array_to_json(array(
              select id from known_users order by id
            )) end,
            'applicableProducts', case when $applicableProducts is not null then array_to_json(array(
              select id from known_products order by id
            )) end
          ) as new
        from seen join wanted using (id)`,
     ),
   )},
   written as (
     update coupons
     set (coupon_code, is_user_based, discount_percent, flat_discount, min_order, max_value, product_ids, is_apply_for_all, valid_till,
         max_limit_for_user, exclusive_apply, is_invalidated)
       = row (wanted.coupon_code, wanted.is_user_based, wanted.discount_percent, wanted.flat_discount, wanted.min_order,
         wanted.max_value, wanted.product_ids, wanted.is_apply_for_all, wanted.valid_till, wanted.max_limit_for_user,
         wanted.exclusive_apply, wanted.is_invalidated),
       etag = default
     from seen join wanted using (id) join change using (id) where differs and ${isAsSeen('coupons')}
     returning coupons.*, coupons.xmin
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
   ${auditEntry('coupon')},
   ${keptRecord}
   select found.*, ${mayWrite} as "mayWrite", ${couponColumns}
   from found left join kept as coupons on true`,
);
