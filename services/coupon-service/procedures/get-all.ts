import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type CouponRow, couponColumns, toCoupon } from '../coupons/coupon.ts';
import {
  creatorJson,
  type ProductRow,
  productJson,
  type StaffUserRow,
  toUser,
  type UserRow,
  userJson,
} from '../coupons/relations.ts';
import { Listing } from '../listing/listing.ts';
import { createdAtMicros, type PlacedRow } from '../listing/paging.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, getAll: coupons with their creators and links, latest first. Throws INVALID_ARGUMENT for a
 * page token of another search.
 */
export function getAll({ database }: CouponParts): Handler<typeof CouponService.method.getAll> {
  return async (request, call) => {
    const { rows, ...next } = await listing.read(database.for(call), request);
    return { coupons: rows.map(toListedCoupon), ...next };
  };
}

interface ListedCouponRow extends CouponRow, PlacedRow {
  creator: StaffUserRow;
  applicableUsers: { id: number; couponId: number; userId: number; user: UserRow }[];
  applicableProducts: { id: number; couponId: number; productId: number; product: ProductRow }[];
}

function toListedCoupon(row: ListedCouponRow) {
  const { creator, applicableUsers, applicableProducts } = row;
  const users = applicableUsers.map((link) => ({ ...link, user: toUser(link.user) }));
  return { ...toCoupon(row), creator, applicableUsers: users, applicableProducts };
}

const listing = new Listing<ListedCouponRow>(
  'coupons',
  'getAll',
  { table: 'coupons', columns: ['coupon_code'], indexed: 'coupon_code' },
  (rows) =>
    `select ${couponColumns}, ${createdAtMicros('coupons')}, ${creatorJson} as creator,
       coalesce((
         select jsonb_agg(jsonb_build_object(
           'id', links.id, 'couponId', links.coupon_id, 'userId', links.user_id, 'user', ${userJson}
         ) order by links.id)
         from coupon_applicable_users as links join users on users.id = links.user_id
         where links.coupon_id = coupons.id
       ), '[]') as "applicableUsers",
       coalesce((
         select jsonb_agg(jsonb_build_object(
           'id', links.id, 'couponId', links.coupon_id, 'productId', links.product_id, 'product', ${productJson}
         ) order by links.id)
         from coupon_applicable_products as links join products on products.id = links.product_id
         where links.coupon_id = coupons.id
       ), '[]') as "applicableProducts"
     from (${rows}) as coupons
     join staff_users on staff_users.id = coupons.created_by
     order by coupons.created_at desc, coupons.id desc`,
);
