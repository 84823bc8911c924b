import { type Actor, actorOf, createdEntry } from '../../../shared/audit/entry.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { toAsciiDigits } from '../../../shared/rpc/digits.ts';
import { ifNewKey } from '../../../shared/rpc/idempotency/key.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { lastSixDigits, newCode } from '../coupons/codes.ts';
import { couponFields } from '../coupons/coupon.ts';
import { isCodeFree, isStaff } from '../coupons/coupon-writes.ts';
import { couponErrors } from '../errors.ts';
import type { CouponParts } from '../parts.ts';

/** The fixed terms and validity of a phone-number coupon (rule 5). */
const terms = { discountPercent: 20, minOrder: 1000, maxValue: 500, maxLimitForUser: 1 } as const;
const validForDays = 90;

/**
 * Spec 4.2, createCoupon: creates a coupon for the user with a mobile number. One statement finds or creates the user
 * (3) and creates the coupon (5). It writes neither unless rules 1 and 4 hold.
 *
 * Throws UNAUTHENTICATED for rule 1, INVALID_ARGUMENT for rule 2, ALREADY_EXISTS for rule 4.
 */
export function createCoupon({ database, codePrefix }: CouponParts): Handler<typeof CouponService.method.createCoupon> {
  return async (request, call) => {
    const staffId = await call.staffId();
    // 1, for a caller without a staff identity
    if (staffId === undefined) throw fail(couponErrors.unauthorized);
    // 2
    const mobile = toAsciiDigits(request.mobile.replace(/\P{Nd}/gu, ''));
    if (mobile.length !== 10) throw fail(couponErrors.mobileNotTenDigits);
    // 4
    const couponCode = newCode(codePrefix, `${mobile.slice(-4)}${lastSixDigits(Date.now())}`, 4);
    const insert = insertPhoneCoupon({ ...actorOf(call), ...terms, mobile, couponCode, staffId, validForDays });
    const db = database.for(call);
    const found = await conditionalWrite(() => db.query(insert), couponErrors.generatedCodeTaken);
    // 1, if the staff user no longer exists, or else 4
    if (!found.mayWrite) throw fail(found.isStaff ? couponErrors.generatedCodeTaken : couponErrors.unauthorized);
    const { id, userId } = found;
    return { success: true, coupon: { ...terms, id, couponCode, userId, userMobile: mobile } };
  };
}

interface NewPhoneCoupon extends Actor {
  mobile: string;
  couponCode: string;
  staffId: number;
  discountPercent: number;
  minOrder: number;
  maxValue: number;
  maxLimitForUser: number;
  validForDays: number;
}

type Found = { isStaff: boolean; mayWrite: boolean } & ({ id: number; userId: number } | { id: null });

// The lock waits for a transaction that deletes the user: the coupon is then for a new one.
const insertPhoneCoupon = statement<Found, NewPhoneCoupon>(
  'createCoupon',
  `with found as (
     select
       ${isStaff},
       ${isCodeFree}
   ),
   allowed as (select from found where ${ifNewKey('"isStaff" and "isCodeFree"')}),
   -- 3
   known as (select id from users where mobile = $mobile for key share),
   created as (
     insert into users (mobile)
     select $mobile from allowed where not exists (select from known)
     on conflict (mobile) do nothing
     returning id, mobile
   ),
   owner as (select id from known union all select id from created),
   -- 5
   written as (
     insert into coupons (
       coupon_code, created_by, is_user_based, discount_percent, min_order, max_value, max_limit_for_user, valid_till
     )
     select $couponCode, $staffId, true, $discountPercent, $minOrder, $maxValue, $maxLimitForUser,
       now() + $validForDays * interval '24 hours'
     from allowed, owner
     returning *
   ),
   linked as (
     insert into coupon_applicable_users (coupon_id, user_id) select written.id, owner.id from written, owner
   ),
   ${createdEntry('user', `'mobile', mobile`, 'created')},
   ${createdEntry(
     'coupon',
     `${couponFields('written')}, 'applicableUsers', json_build_array(user_id), 'applicableProducts', json_build_array()`,
     'written, (select id as user_id from owner) as owner',
   )}
   select found.*, "isStaff" and "isCodeFree" as "mayWrite", written.id, owner.id as "userId"
   from found left join (written cross join owner) on true`,
);
