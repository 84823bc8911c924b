import { type Queryable, statement } from '../../shared/db/database.ts';
import { fail } from '../../shared/errors/errors.ts';
import { type CouponRow, couponColumns } from './coupon-records.ts';
import { couponErrors } from './errors.ts';

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
export async function invalidateCoupon(db: Queryable, id: number): Promise<void> {
  const [coupon] = await db.query(invalidateCouponRow, [id]);
  if (coupon === undefined) throw fail(couponErrors.couponNotFound);
}
