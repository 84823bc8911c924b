import { type Actor, actorOf, createdEntry } from '../../../shared/audit/entry.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { type ErrorRow, fail } from '../../../shared/errors/errors.ts';
import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { ifNewKey } from '../../../shared/rpc/idempotency/key.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { lastSixDigits, newCode } from '../coupons/codes.ts';
import { type CouponRow, couponColumns, couponFields, toCoupon } from '../coupons/coupon.ts';
import { type NewCoupon, newCoupon, readCouponBody, requireCreatable, rowsOf } from '../coupons/coupon-body.ts';
import {
  couponFieldsColumns,
  couponFieldsValues,
  isCodeFree,
  isStaff,
  linkProducts,
  linksEntry,
  linkUsers,
  productsExist,
  usersExist,
} from '../coupons/coupon-writes.ts';
import { couponErrors } from '../errors.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, create. One statement checks rules 4, 5 and 7, and writes only if they hold.
 *
 * Throws INVALID_ARGUMENT for rules 1 to 4 and for products that do not exist, UNAUTHENTICATED for rule 5,
 * ALREADY_EXISTS for rule 7.
 */
export function create({ database, codePrefix }: CouponParts): Handler<typeof CouponService.method.create> {
  return async (request, call) => {
    const body = readCouponBody('coupon', request.coupon);
    // 1 to 3
    requireCreatable(body);
    call.chargeRows(...rowsOf(body));
    const coupon = newCoupon(body);
    const staffId = await call.staffId();
    // 6
    const couponCode = body.couponCode || newCode(codePrefix, lastSixDigits(Date.now()), 6);
    const isLinked = coupon.applicableUsers.length + coupon.applicableProducts.length > 0;
    const insert = isLinked ? insertLinkedCoupon : insertCoupon;
    const write = insert({ ...actorOf(call), ...coupon, couponCode, staffId });
    const db = database.for(call);
    const found = await conditionalWrite(() => db.query(write), couponErrors.couponCodeTaken);
    if (!found.mayWrite) throw fail(brokenRule(found));
    return { coupon: toCoupon(found) };
  };
}

function brokenRule({ usersExist, isStaff, isCodeFree }: Findings): ErrorRow {
  // 4
  if (!usersExist) return couponErrors.usersNotFound;
  // 5
  if (!isStaff) return couponErrors.unauthorized;
  // 7. The spec's rules come before the check of products (design 3).
  return isCodeFree ? couponErrors.productsNotFound : couponErrors.couponCodeTaken;
}

interface Findings {
  usersExist: boolean;
  isStaff: boolean;
  isCodeFree: boolean;
}

type Found = Findings & { mayWrite: boolean } & (CouponRow | { id: null });

/** SQL of the condition that all rules hold, on the columns of `found`. */
const mayWrite = `("usersExist" and "isStaff" and "isCodeFree" and "productsExist")`;

// Inserting no links takes long, too: the triggers count them.
const insertCoupon = insertWith('create', '');
const insertLinkedCoupon = insertWith('createLinked', `${linkUsers}, ${linkProducts},`);

function insertWith(name: string, links: string) {
  return statement<Found, NewCoupon & Actor & { couponCode: string; staffId: number | undefined }>(
    name,
    `with found as (
     select ${usersExist}, ${isStaff}, ${isCodeFree}, ${productsExist}
   ),
   written as (
     insert into coupons (created_by, ${couponFieldsColumns})
     select $staffId::integer, ${couponFieldsValues} from found where ${ifNewKey(mayWrite)}
     on conflict (coupon_code) do nothing
     returning *
   ),
   ${links}
   ${createdEntry('coupon', `${couponFields('written')}, ${linksEntry}`)}
   select found.*, ${mayWrite} as "mayWrite", ${couponColumns}
   from found left join written as coupons on true`,
  );
}
