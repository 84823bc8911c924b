import { maxInt32 } from '../../../shared/db/int32.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { keyedStatement, readBySize, type Sized } from '../../../shared/reads/shared-read.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type CouponRow, couponColumns, toCoupon } from '../coupons/coupon.ts';
import { type ProductTuple, productJson, toProduct, toUser, type UserTuple, userJson } from '../coupons/relations.ts';
import { couponErrors } from '../errors.ts';
import type { CouponParts } from '../parts.ts';

/**
 * A coupon with more links or product ids is read alone, because calls that share a statement wait for its largest row.
 */
const smallLinks = 100;

/** Spec 4.2, getById: returns a coupon with its creator, users and products. Throws NOT_FOUND. */
export function getById({ database }: CouponParts): Handler<typeof CouponService.method.getById> {
  const readCoupon = readBySize<number, CouponKey, CouponDetailRow, CouponDetailRow>(database, {
    select: selectCoupon,
    keyOf: ({ couponId }) => couponId,
    toValue: (coupon) => coupon,
    maxSizes: { shared: smallLinks, alone: maxInt32 },
  });
  return async ({ id }, call) => {
    const coupon = await readCoupon(id, call);
    if (coupon === undefined) throw fail(couponErrors.couponNotFound);
    return { coupon: toCouponDetail(coupon) };
  };
}

interface CouponKey {
  couponId: number;
}

interface CouponDetailRow extends CouponRow {
  creatorName: string;
  applicableUsers: UserTuple[];
  applicableProducts: ProductTuple[];
}

function toCouponDetail(row: CouponDetailRow) {
  return {
    ...toCoupon(row),
    creator: { id: row.createdBy, name: row.creatorName },
    applicableUsers: mapped(row.applicableUsers, toUser),
    applicableProducts: mapped(row.applicableProducts, toProduct),
  };
}

const selectCoupon = keyedStatement<number, Sized<CouponKey, CouponDetailRow>, { maxSize: number }>(
  'getById',
  'integer',
  // The product ids are counted by the array's size, 21 to 24 bytes plus 4 per id, which does not read the array.
  `select coupons.id as "couponId", detail.*, coalesce(
     json_array_length("applicableUsers") + json_array_length("applicableProducts") > $maxSize::integer, true
   ) as "isTooLarge"
   from coupons left join lateral (
     select ${couponColumns}, staff_users.name as "creatorName",
       coalesce((
         select json_agg(${userJson('links.user_id')} order by links.id)
         from (
           select * from coupon_applicable_users where coupon_id = coupons.id limit $maxSize::bigint + 1
         ) as links left join users on users.id = links.user_id
       ), '[]') as "applicableUsers",
       coalesce((
         select json_agg(${productJson('links.product_id')} order by links.id)
         from (
           select * from coupon_applicable_products where coupon_id = coupons.id limit $maxSize::bigint + 1
         ) as links left join products on products.id = links.product_id
       ), '[]') as "applicableProducts"
     from staff_users
     where staff_users.id = coupons.created_by and coalesce((pg_column_size(coupons.product_ids) - 21) / 4, 0) <= $maxSize
     offset 0
   ) as detail on true
   where coupons.id = $key`,
);
