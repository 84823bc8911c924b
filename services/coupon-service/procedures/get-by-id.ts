import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import { ProductSummarySchema } from '../../../shared/gen/common/v1/product_pb.ts';
import {
  CouponDetailSchema,
  type CouponService,
  GetByIdResponseSchema,
  UserSchema,
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
import { couponErrors } from '../errors.ts';
import type { CouponParts } from '../parts.ts';

/** Spec 4.2, getById: a coupon with its creator, users and products. Throws NOT_FOUND. */
export function getById({ database }: CouponParts): Handler<typeof CouponService.method.getById> {
  return async ({ id }, call) => {
    const [coupon] = await database.for(call).query(selectCoupon({ id }));
    if (coupon === undefined) throw fail(couponErrors.couponNotFound);
    return new LongResponse(
      longMessage(GetByIdResponseSchema, {}, [longList(GetByIdResponseSchema.field.coupon, [coupon], toCouponDetail)]),
    );
  };
}

interface CouponDetailRow extends CouponRow {
  creator: StaffUserRow;
  applicableUsers: UserTuple[];
  applicableProducts: ProductTuple[];
}

function toCouponDetail(row: CouponDetailRow) {
  const { creator, applicableUsers, applicableProducts } = row;
  return longMessage(CouponDetailSchema, { ...toCoupon(row), creator }, [
    longList(CouponDetailSchema.field.applicableUsers, applicableUsers, (user) =>
      longMessage(UserSchema, toUser(user)),
    ),
    longList(CouponDetailSchema.field.applicableProducts, applicableProducts, (product) =>
      longMessage(ProductSummarySchema, toProduct(product)),
    ),
  ]);
}

const selectCoupon = statement<CouponDetailRow, { id: number }>(
  'getById',
  `select ${couponColumns}, ${creatorJson} as creator,
     coalesce((
       select json_agg(${userJson} order by links.id)
       from coupon_applicable_users as links join users on users.id = links.user_id
       where links.coupon_id = coupons.id
     ), '[]') as "applicableUsers",
     coalesce((
       select json_agg(${productJson} order by links.id)
       from coupon_applicable_products as links join products on products.id = links.product_id
       where links.coupon_id = coupons.id
     ), '[]') as "applicableProducts"
   from coupons join staff_users on staff_users.id = coupons.created_by
   where coupons.id = $id`,
);
