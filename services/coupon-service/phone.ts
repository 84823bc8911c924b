import { type Queryable, statement } from '../../shared/db/database.ts';
import { fail } from '../../shared/rpc/errors.ts';
import { newPhoneCouponCode } from './codes.ts';
import { insertCoupon } from './coupon-records.ts';
import type { Issuer } from './coupons.ts';
import { couponErrors } from './errors.ts';

/** The fixed terms of a phone-number coupon (spec 4.2, createCoupon). */
const terms = { discountPercent: 20, minOrder: 1000, maxValue: 500, maxLimitForUser: 1 } as const;
const validForDays = 90;

const userByMobile = statement<{ id: number }>('userByMobile', 'select id from users where mobile = $1 for key share');

// The update changes nothing: it makes the insert answer with the user of a call that came first.
const createUserByMobile = statement<{ id: number }>(
  'createUserByMobile',
  `insert into users (mobile) values ($1)
   on conflict on constraint users_mobile_unique do update set mobile = excluded.mobile
   returning id`,
);

async function findOrCreateUser(tx: Queryable, mobile: string): Promise<number> {
  const [found] = await tx.query(userByMobile, [mobile]);
  const [user] = found === undefined ? await tx.query(createUserByMobile, [mobile]) : [found];
  if (user === undefined) throw new Error('the user was not stored');
  return user.id;
}

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
 * none.
 *
 * @throws UNAUTHENTICATED for rule 1, INVALID_ARGUMENT for rule 2, ALREADY_EXISTS for rule 4.
 */
export async function createPhoneCoupon(tx: Queryable, mobile: string, issuer: Issuer): Promise<PhoneCoupon> {
  // 1
  const { staffId, codePrefix } = issuer;
  if (staffId === undefined) throw fail(couponErrors.unauthorized);
  // 2
  const userMobile = mobile.replace(/[^0-9]/g, '');
  if (userMobile.length !== 10) throw fail(couponErrors.mobileNotTenDigits);
  // 3
  const userId = await findOrCreateUser(tx, userMobile);
  // 4 and 5
  const stored = await insertCoupon(tx, {
    ...terms,
    couponCode: newPhoneCouponCode(codePrefix, userMobile, Date.now()),
    isUserBased: true,
    isApplyForAll: false,
    exclusiveApply: false,
    validForDays,
    createdBy: staffId,
    applicableUsers: [userId],
  });
  if (stored === undefined) throw fail(couponErrors.generatedCodeTaken);
  return { ...terms, id: stored.id, couponCode: stored.couponCode, userId, userMobile };
}
