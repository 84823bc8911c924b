import { type Actor, actorOf, auditEntry, changeOf, differing, keptRecord } from '../../../shared/audit/entry.ts';
import { conditionalWrite, etagMatches, type Guard, isAsSeen } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { commonErrors, type ErrorRow, fail, invalidField } from '../../../shared/errors/errors.ts';
import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type CouponRow, couponColumns, couponFields, toCoupon } from '../coupons/coupon.ts';
import { type CouponBody, readCouponBody, rowsOf } from '../coupons/coupon-body.ts';
import {
  linksAfter,
  linksBefore,
  newProducts,
  newProductsExist,
  newUsers,
  newUsersExist,
  relinkProducts,
  relinkUsers,
  updatedColumns,
  updatedValues,
} from '../coupons/coupon-writes.ts';
import { couponErrors } from '../errors.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, update. One statement checks rules 2, 3 and 5, and writes (4, 6) only if they hold. Fields that are
 * not given keep their values.
 *
 * Throws INVALID_ARGUMENT for rules 1 to 3 and for products that do not exist, NOT_FOUND for rule 5, ABORTED for an
 * outdated etag, and ALREADY_EXISTS for a code that another coupon has.
 */
export function update({ database }: CouponParts): Handler<typeof CouponService.method.update> {
  return async ({ id, updates, etag }, call) => {
    const body = readCouponBody('updates.coupon', updates?.coupon);
    const { couponCode, isUserBased, applicableUsers } = body;
    // Our own rule (design 7): a code can't become empty.
    if (couponCode === '') throw invalidField('updates.coupon.coupon_code', 'must not be empty');
    // 1
    if (body.discountPercent && body.flatDiscount) throw fail(couponErrors.twoDiscounts);
    call.chargeRows(...rowsOf(body));
    const needsUsers = isUserBased === true && !applicableUsers?.length;
    const write = {
      ...actorOf(call),
      ...body,
      id,
      etag,
      isInvalidated: updates?.isInvalidated,
      needsUsers,
      clearsProductIds: body.productIds === null,
      clearsStartsAt: body.startsAt === null,
      clearsValidTill: body.validTill === null,
    };
    const db = database.for(call);
    const found = await conditionalWrite((isRerun) =>
      db.pipeline(isRerun ? [lockCoupon({ id, couponCode })] : [], updateCoupon(write)),
    );
    if (!found.mayWrite) throw fail(brokenRule(found));
    return { coupon: toCoupon(found) };
  };
}

function brokenRule({ hasUsers, usersExist, exists, isCurrent, isCodeFree }: Findings): ErrorRow {
  // 2
  if (!hasUsers) return couponErrors.usersRequired;
  // 3
  if (!usersExist) return couponErrors.usersNotFound;
  // 5
  if (!exists) return couponErrors.couponNotFound;
  if (!isCurrent) return commonErrors.etagMismatch;
  // Our own rule (design 7): another coupon has the code. The spec's rules come before the check of products (design
  // 3).
  return isCodeFree ? couponErrors.productsNotFound : couponErrors.couponCodeTaken;
}

// Updates that change a code run one at a time: two that swap the codes of their coupons would deadlock on every retry.
const lockCoupon = statement<never, { id: number; couponCode: string | undefined }>(
  'lockCoupon',
  `with codes as materialized (
     select pg_advisory_xact_lock(hashtext(own_name('coupon_code'))) from coupons where id = $id and coupon_code <> $couponCode
   )
   select from coupons, (select count(*) from codes) as locked where id = $id for no key update of coupons`,
);

interface CouponUpdates extends CouponBody, Actor, Guard {
  id: number;
  isInvalidated: boolean | undefined;
  /** Rule 2: whether the coupon must already have users. */
  needsUsers: boolean;
  clearsProductIds: boolean;
  clearsStartsAt: boolean;
  clearsValidTill: boolean;
}

interface Findings {
  /** Rule 2: the coupon has users, or needs none. */
  hasUsers: boolean;
  usersExist: boolean;
  exists: boolean;
  isCurrent: boolean;
  isCodeFree: boolean;
}

type Found = Findings & { mayWrite: boolean } & (CouponRow | { id: null });

/** SQL of the condition that all rules hold, on the columns of `found`. */
const mayWrite = `(
  "hasUsers" and "usersExist" and "isCurrent" and "isCodeFree" and "productsExist")`;

/** Compares the ids as an array: a coupon may have 100,000, which JSON would be slow for. */
const productIdsIfChanged = (row: 'seen' | 'wanted') =>
  `case when seen.product_ids is distinct from wanted.product_ids then to_json(${row}.product_ids) end`;

const updateCoupon = statement<Found, CouponUpdates>(
  'update',
  `with seen as (select *, xmin from coupons where id = $id),
   ${newUsers},
   ${newProducts},
   found as (
     select
       not $needsUsers::boolean or exists (select from coupon_applicable_users where coupon_id = $id) as "hasUsers",
       ${newUsersExist},
       exists (select from seen) as "exists",
       exists (select from seen where ${etagMatches}) as "isCurrent",
       not exists (select from coupons where coupon_code = $couponCode and id <> $id) as "isCodeFree",
       ${newProductsExist}
   ),
   -- 4
   wanted (id, created_by, created_at, ${updatedColumns}) as (
     select id, created_by, created_at, ${updatedValues} from seen, found where ${mayWrite}
   ),
   ${changeOf(
     differing(
       `select id,
          json_build_object(
            ${couponFields('seen')}, 'productIds', ${productIdsIfChanged('seen')}, ${linksBefore}
          ) as old,
          json_build_object(
            ${couponFields('wanted')}, 'productIds', ${productIdsIfChanged('wanted')}, ${linksAfter}
          ) as new
        from seen join wanted using (id)`,
     ),
   )},
   written as (
     update coupons
     set (${updatedColumns}) = (select ${updatedColumns} from wanted), etag = default
     from seen join change using (id) where differs and ${isAsSeen('coupons')}
     returning coupons.*, coupons.xmin
   ),
   -- 6
   ${relinkUsers},
   ${relinkProducts},
   ${auditEntry('coupon')},
   ${keptRecord}
   select found.*, ${mayWrite} as "mayWrite", ${couponColumns}
   from found left join kept as coupons on true`,
);
