import { type Queryable, statement } from '../../shared/db/database.ts';
import { fail } from '../../shared/rpc/errors.ts';
import { newCouponCode } from './codes.ts';
import { type CouponRow, couponColumns, insertCoupon, requireUsers } from './coupon-records.ts';
import { couponErrors } from './errors.ts';

/** What coupons are made of (spec 4.2, CouponBody), as far as it is used. */
export interface CouponBody {
  readonly couponCode: string | undefined;
  readonly isUserBased: boolean | undefined;
  readonly discountPercent: number | undefined;
  readonly flatDiscount: number | undefined;
  readonly minOrder: number | undefined;
  /** null stores null. */
  readonly productIds: readonly number[] | null | undefined;
  readonly applicableUsers: readonly number[] | undefined;
  readonly applicableProducts: readonly number[] | undefined;
  readonly maxValue: number | undefined;
  readonly isApplyForAll: boolean | undefined;
  /** null is no date. */
  readonly validTill: Date | null | undefined;
  readonly maxLimitForUser: number | undefined;
  readonly exclusiveApply: boolean | undefined;
}

/** Throws INVALID_ARGUMENT unless exactly one discount is present and non-zero (spec 4.2). */
export function requireOneDiscount({ discountPercent, flatDiscount }: CouponBody): void {
  if (!discountPercent === !flatDiscount) throw fail(couponErrors.oneDiscountRequired);
}

/** Who creates a coupon, and how its code starts when one is made up. */
export interface Issuer {
  readonly staffId: number | undefined;
  readonly codePrefix: string;
}

/**
 * Spec 4.2, create.
 *
 * @returns the stored coupon.
 * @throws INVALID_ARGUMENT for rules 1 to 4 and for products that do not exist, UNAUTHENTICATED for
 * rule 5, ALREADY_EXISTS for a code that is taken.
 */
export async function createCoupon(tx: Queryable, body: CouponBody, issuer: Issuer): Promise<CouponRow> {
  const { isUserBased = false, isApplyForAll = false, applicableUsers = [] } = body;
  // 1
  requireOneDiscount(body);
  // 2
  if (isUserBased && applicableUsers.length === 0 && !isApplyForAll) throw fail(couponErrors.usersOrAllRequired);
  // 3
  if (isUserBased && isApplyForAll) throw fail(couponErrors.userBasedAndForAll);
  // 4
  await requireUsers(tx, applicableUsers);
  // 5
  if (issuer.staffId === undefined) throw fail(couponErrors.unauthorized);
  // 6
  const couponCode = body.couponCode || newCouponCode(issuer.codePrefix, Date.now());
  // 7
  const stored = await insertCoupon(tx, { ...body, couponCode, createdBy: issuer.staffId });
  if (stored === undefined) throw fail(couponErrors.couponCodeTaken);
  return stored;
}

export interface StaffUserRow {
  id: number;
  name: string;
}

export interface UserRow {
  id: number;
  name: string | null;
  email: string | null;
  mobile: string;
}

export interface ProductRow {
  id: number;
  name: string;
  images: string[];
}

/** A coupon with what it is related to. */
export interface CouponDetailRow extends CouponRow {
  creator: StaffUserRow;
  applicableUsers: UserRow[];
  applicableProducts: ProductRow[];
}

// Only the columns that the spec names (2.6, design 5), as JSON.
export const creatorJson = `jsonb_build_object('id', staff_users.id, 'name', staff_users.name)`;
export const userJson = `jsonb_build_object(
  'id', users.id, 'name', users.name, 'email', users.email, 'mobile', users.mobile)`;
export const productJson = `jsonb_build_object(
  'id', products.id, 'name', products.name, 'images', products.images)`;

const getByIdRow = statement<CouponDetailRow>(
  'getById',
  `select ${couponColumns}, ${creatorJson} as creator,
     coalesce((
       select jsonb_agg(${userJson} order by links.id)
       from coupon_applicable_users as links join users on users.id = links.user_id
       where links.coupon_id = coupons.id
     ), '[]') as "applicableUsers",
     coalesce((
       select jsonb_agg(${productJson} order by links.id)
       from coupon_applicable_products as links join products on products.id = links.product_id
       where links.coupon_id = coupons.id
     ), '[]') as "applicableProducts"
   from coupons join staff_users on staff_users.id = coupons.created_by
   where coupons.id = $1`,
);

/** Spec 4.2, getById. Throws NOT_FOUND. */
export async function getCouponById(db: Queryable, id: number): Promise<CouponDetailRow> {
  const [coupon] = await db.query(getByIdRow, [id]);
  if (coupon === undefined) throw fail(couponErrors.couponNotFound);
  return coupon;
}

const invalidateCouponRow = statement<{ id: number }>(
  'invalidateCoupon',
  'update coupons set is_invalidated = true where id = $1 returning id',
);

/** Spec 4.2, delete: the record is kept. Throws NOT_FOUND. */
export async function invalidateCoupon(tx: Queryable, id: number): Promise<void> {
  const [coupon] = await tx.query(invalidateCouponRow, [id]);
  if (coupon === undefined) throw fail(couponErrors.couponNotFound);
}
