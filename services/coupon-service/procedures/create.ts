import { type Actor, actorOf, auditEntry, idsEntryJson, linksEntryJson } from '../../../shared/audit/entry.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { type ErrorRow, fail } from '../../../shared/errors/errors.ts';
import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { ifNewKey } from '../../../shared/rpc/idempotency/key.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { lastSixDigits, newCode } from '../coupons/codes.ts';
import { type CouponRow, couponColumns, couponFields, toCoupon } from '../coupons/coupon.ts';
import { readCouponBody, requireCreatable, type Terms } from '../coupons/coupon-body.ts';
import {
  couponFieldsColumns,
  couponFieldsValues,
  isCodeFree,
  isStaff,
  linkProducts,
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
    const { isUserBased = false, isApplyForAll = false, applicableUsers = [], applicableProducts = [] } = body;
    // 1 to 3
    requireCreatable(body);
    const staffId = await call.staffId();
    // 6
    const couponCode = body.couponCode || newCode(codePrefix, lastSixDigits(Date.now()), 6);
    const isLinked = applicableUsers.length + applicableProducts.length > 0;
    const write = (isLinked ? insertLinkedCoupon : insertCoupon)({
      ...actorOf(call),
      ...body,
      couponCode,
      staffId,
      isUserBased,
      isApplyForAll,
      applicableUsers,
      exclusiveApply: body.exclusiveApply ?? false,
      applicableProducts,
      productIdsJson: body.productIds && idsEntryJson(body.productIds),
      usersJson: linksEntryJson(applicableUsers),
      productsJson: linksEntryJson(applicableProducts),
    });
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

interface NewCoupon extends Terms, Actor {
  couponCode: string;
  staffId: number | undefined;
  isUserBased: boolean;
  isApplyForAll: boolean;
  exclusiveApply: boolean;
  applicableUsers: readonly number[];
  applicableProducts: readonly number[];
  /** The id lists as JSON for the audit entry. */
  productIdsJson: string | null | undefined;
  usersJson: string;
  productsJson: string;
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
const insertCoupon = insert('create', '');
const insertLinkedCoupon = insert('createLinked', `${linkUsers}, ${linkProducts},`);

function insert(name: string, links: string) {
  return statement<Found, NewCoupon>(
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
   ${auditEntry(
     'coupon',
     `select id, null::json as before, json_strip_nulls(json_build_object(
        ${couponFields('written')}, 'productIds', $productIdsJson::json, 'applicableUsers', $usersJson::json,
        'applicableProducts', $productsJson::json
      )) as after
      from written`,
   )}
   select found.*, ${mayWrite} as "mayWrite", ${couponColumns}
   from found left join written as coupons on true`,
  );
}
