import {
  CouponApplicableProductSchema,
  CouponApplicableUserSchema,
  type CouponService,
  GetAllResponseSchema,
  ListedCouponSchema,
} from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { LongResponse, longList, longMessage } from '../../../shared/rpc/protobuf/long-message.ts';
import { type CouponRow, couponColumns, toCoupon } from '../coupons/coupon.ts';
import {
  creatorJson,
  type ProductTuple,
  productJson,
  type StaffUserRow,
  toProduct,
  toUser,
  type UserTuple,
  userJson,
} from '../coupons/relations.ts';
import { Listing } from '../listing/listing.ts';
import { type PlacedRow, placeColumns } from '../listing/paging.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, getAll: coupons with their creators and links, latest first. Throws INVALID_ARGUMENT for a
 * page token of another search.
 */
export function getAll({ database }: CouponParts): Handler<typeof CouponService.method.getAll> {
  return async (request, call) => {
    const { rows, ...next } = await listing.read(database.for(call), request);
    const coupons = longList(GetAllResponseSchema.field.coupons, rows, toListedCoupon);
    return new LongResponse(longMessage(GetAllResponseSchema, next, [coupons]));
  };
}

interface ListedCouponRow extends CouponRow, PlacedRow {
  creator: StaffUserRow;
  applicableUsers: [id: number, user: UserTuple][];
  applicableProducts: [id: number, product: ProductTuple][];
}

function toListedCoupon(row: ListedCouponRow) {
  const { id: couponId, creator, applicableUsers, applicableProducts } = row;
  return longMessage(ListedCouponSchema, { ...toCoupon(row), creator }, [
    longList(ListedCouponSchema.field.applicableUsers, applicableUsers, ([id, user]) =>
      longMessage(CouponApplicableUserSchema, { id, couponId, userId: user[0], user: toUser(user) }),
    ),
    longList(ListedCouponSchema.field.applicableProducts, applicableProducts, ([id, product]) =>
      longMessage(CouponApplicableProductSchema, { id, couponId, productId: product[0], product: toProduct(product) }),
    ),
  ]);
}

const listing = new Listing<ListedCouponRow>(
  'coupons',
  'getAll',
  {
    table: 'coupons',
    columns: ['coupon_code'],
    indexed: 'coupon_code',
    links: `
      select from coupon_applicable_users where coupon_id = page.id
      union all
      select from coupon_applicable_products where coupon_id = page.id`,
  },
  (rows) =>
    `select ${couponColumns}, ${placeColumns('coupons')}, ${creatorJson} as creator,
       coalesce((
         select json_agg(json_build_array(links.id, ${userJson}) order by links.id)
         from coupon_applicable_users as links join users on users.id = links.user_id
         where links.coupon_id = coupons.id and not is_beyond
       ), '[]') as "applicableUsers",
       coalesce((
         select json_agg(json_build_array(links.id, ${productJson}) order by links.id)
         from coupon_applicable_products as links join products on products.id = links.product_id
         where links.coupon_id = coupons.id and not is_beyond
       ), '[]') as "applicableProducts"
     from (${rows}) as coupons
     join staff_users on staff_users.id = coupons.created_by
     order by coupons.created_at desc, coupons.id desc`,
);
