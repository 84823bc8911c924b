import { type Actor, actorOf, createdEntry } from '../../../shared/audit/entry.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { type ErrorRow, fail } from '../../../shared/errors/errors.ts';
import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { ifNewKey } from '../../../shared/rpc/idempotency/key.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { lastSixDigits, newCode } from '../coupons/codes.ts';
import { termsFields } from '../coupons/coupon.ts';
import { type NewCoupon, newCoupon, readCouponBody, requireOneDiscount, rowsOf } from '../coupons/coupon-body.ts';
import { isStaff, linkReservedProducts, productsExist, termsColumns, termsValues } from '../coupons/coupon-writes.ts';
import { type ReservedCouponRow, reservedColumns, toReservedCoupon } from '../coupons/reserved-coupon.ts';
import { couponErrors } from '../errors.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, createReservedCoupon. One statement checks rules 2 and 3, and writes (5, 6) only if they hold.
 *
 * Throws INVALID_ARGUMENT for rule 1 and for products that do not exist, UNAUTHENTICATED for rule 2,
 * ALREADY_EXISTS for rule 3.
 */
export function createReservedCoupon({
  database,
}: CouponParts): Handler<typeof CouponService.method.createReservedCoupon> {
  return async (request, call) => {
    const body = readCouponBody('coupon', request.coupon);
    // 1
    requireOneDiscount(body);
    const staffId = await call.staffId();
    // 2, for a caller without a staff identity
    if (staffId === undefined) throw fail(couponErrors.unauthorized);
    call.chargeRows(...rowsOf(body));
    const digits = lastSixDigits(Date.now());
    const insert = insertReservedCoupon({
      ...actorOf(call),
      ...newCoupon(body),
      // 3
      secretCode: body.couponCode || newCode('SECRET', digits, 6),
      // 4
      couponCode: body.couponCode || newCode('RESERVED', digits),
      staffId,
    });
    const db = database.for(call);
    const found = await conditionalWrite(() => db.query(insert), couponErrors.secretCodeTaken);
    if (!found.mayWrite) throw fail(brokenRule(found));
    return { reservedCoupon: toReservedCoupon(found) };
  };
}

function brokenRule({ isStaff, isCodeFree }: Findings): ErrorRow {
  // 2, if the staff user no longer exists
  if (!isStaff) return couponErrors.unauthorized;
  // 3. The spec's rules come before the check of products (design 3).
  return isCodeFree ? couponErrors.productsNotFound : couponErrors.secretCodeTaken;
}

interface NewReservedCoupon extends NewCoupon, Actor {
  secretCode: string;
  couponCode: string;
  staffId: number;
}

interface Findings {
  isStaff: boolean;
  isCodeFree: boolean;
}

type Found = Findings & { mayWrite: boolean } & (ReservedCouponRow | { id: null });

/** SQL of the condition that all rules hold, on the columns of `found`. */
const mayWrite = `("isStaff" and "isCodeFree" and "productsExist")`;

const insertReservedCoupon = statement<Found, NewReservedCoupon>(
  'createReservedCoupon',
  `with found as (
     select
       ${isStaff},
       not exists (select from reserved_coupons where secret_code = $secretCode) as "isCodeFree",
       ${productsExist}
   ),
   written as (
     insert into reserved_coupons (secret_code, coupon_code, created_by, ${termsColumns})
     select $secretCode, $couponCode::text, $staffId, ${termsValues} from found
     where ${ifNewKey(mayWrite)}
     on conflict (secret_code) do nothing
     returning *
   ),
   ${linkReservedProducts},
   ${createdEntry(
     'reserved_coupon',
     `'secretCode', secret_code, 'couponCode', coupon_code, ${termsFields('written')},
      'productIds', $productIdsJson::json, 'applicableProducts', $productsJson::json`,
   )}
   select found.*, ${mayWrite} as "mayWrite", ${reservedColumns}
   from found left join written as reserved_coupons on true`,
);
