import { type Queryable, statement } from '../../shared/db/database.ts';
import { violates } from '../../shared/db/errors.ts';
import { fail } from '../../shared/errors/errors.ts';
import { newPhoneCouponCode } from './codes.ts';
import type { Issuer } from './coupon-records.ts';
import { couponErrors } from './errors.ts';

/** The fixed terms of a phone-number coupon (spec 4.2, createCoupon). */
const terms = { discountPercent: 20, minOrder: 1000, maxValue: 500, maxLimitForUser: 1 } as const;
const validForDays = 90;

// Where a call that came first creates the user, the update changes nothing: it makes the insert
// answer with that user. A code that is taken fails the statement, and so leaves no user behind.
const createPhoneCouponRow = statement<{ id: number; couponCode: string; userId: number }>(
  'createPhoneCoupon',
  `with found as (select id from users where mobile = $1 for key share),
   created as (
     insert into users (mobile) select $1 where not exists (select from found)
     on conflict on constraint users_mobile_unique do update set mobile = excluded.mobile
     returning id
   ),
   owner as (select id from found union all select id from created),
   written as (
     insert into coupons (
       coupon_code, created_by, is_user_based, discount_percent, min_order, max_value, max_limit_for_user, valid_till
     )
     select $2, $3, true, $4, $5, $6, $7, now() + $8 * interval '24 hours'
     from owner
     returning id, coupon_code
   ),
   linked as (
     insert into coupon_applicable_users (coupon_id, user_id) select written.id, owner.id from written, owner
   )
   select written.id, written.coupon_code as "couponCode", owner.id as "userId" from written, owner`,
);

/** The coupon as createCoupon answers with it. */
export interface PhoneCoupon {
  readonly id: number;
  readonly couponCode: string;
  readonly userId: number;
  readonly userMobile: string;
  readonly discountPercent: number;
  readonly minOrder: number;
  readonly maxValue: number;
  readonly maxLimitForUser: number;
}

/**
 * Spec 4.2, createCoupon: a coupon for the user with a mobile number, who is created when there is
 * none. One statement, undone as a whole when it fails.
 *
 * @throws UNAUTHENTICATED for rule 1, INVALID_ARGUMENT for rule 2, ALREADY_EXISTS for rule 4.
 */
export async function createPhoneCoupon(db: Queryable, mobile: string, issuer: Issuer): Promise<PhoneCoupon> {
  // 1
  const { staffId, codePrefix } = issuer;
  if (staffId === undefined) throw fail(couponErrors.unauthorized);
  // 2
  const userMobile = mobile.replace(/[^0-9]/g, '');
  if (userMobile.length !== 10) throw fail(couponErrors.mobileNotTenDigits);
  // 3 to 5
  const { discountPercent, minOrder, maxValue, maxLimitForUser } = terms;
  const code = newPhoneCouponCode(codePrefix, userMobile, Date.now());
  const values = [userMobile, code, staffId, discountPercent, minOrder, maxValue, maxLimitForUser, validForDays];
  const [stored] = await db.query(createPhoneCouponRow, values).catch((error: unknown) => {
    if (violates(error, 'couponCode')) throw fail(couponErrors.generatedCodeTaken);
    // The staff user was there a moment ago.
    throw violates(error, 'couponCreator') ? fail(couponErrors.unauthorized) : error;
  });
  if (stored === undefined) throw new Error('the coupon was not stored');
  return { ...terms, ...stored, userMobile };
}
