import type {
  ListedReservedCouponSchema,
  ReservedCouponSchema,
} from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Answer } from '../../../shared/rpc/answers/answer.ts';
import { type TermsRow, termsColumnsOf, toTerms } from './coupon.ts';
import { toUser, type UserTuple, userJson } from './relations.ts';

/** The reserved-coupon record (spec 2.5). */
export interface ReservedCouponRow extends TermsRow {
  id: number;
  secretCode: string;
  couponCode: string;
  createdBy: number;
  createdAt: Date;
}

/** Returns SQL of the columns of `ReservedCouponRow`. `productIds` is SQL of the product ids to show. */
export const reservedColumnsWith = (productIds: string) => `
  reserved_coupons.id, reserved_coupons.secret_code as "secretCode", reserved_coupons.coupon_code as "couponCode",
  ${termsColumnsOf('reserved_coupons', productIds)},
  reserved_coupons.created_by as "createdBy", reserved_coupons.created_at as "createdAt"`;
export const reservedColumns = reservedColumnsWith('reserved_coupons.product_ids');

/** Converts a record to a `ReservedCoupon`. `ListedReservedCoupon` has the same fields. */
export function toReservedCoupon(row: ReservedCouponRow) {
  const fields = { ...row, ...toTerms(row), createdAt: row.createdAt.getTime() };
  return fields satisfies Answer<typeof ReservedCouponSchema>;
}

/** A reserved coupon as listings show it, with its creator and the user who redeemed it. */
export interface ListedReservedCouponRow extends ReservedCouponRow {
  creatorName: string;
  productIdsCount: number;
  redeemedUser: UserTuple | null;
}

/** SQL of the columns of `ListedReservedCouponRow` but the number of product ids, and of the joins that they need. */
export const listedReserved = {
  columns: (productIds: string) => `${reservedColumnsWith(productIds)}, staff_users.name as "creatorName",
    case when redeemed_by is not null then ${userJson('redeemed_by')} end as "redeemedUser"`,
  joined: `join staff_users on staff_users.id = reserved_coupons.created_by
    left join users on users.id = reserved_coupons.redeemed_by`,
};

/** Converts a record to a `ListedReservedCoupon`. */
export function toListedReservedCoupon(row: ListedReservedCouponRow) {
  return {
    ...toReservedCoupon(row),
    productIdsCount: row.productIdsCount,
    creator: { id: row.createdBy, name: row.creatorName },
    redeemedUser: row.redeemedUser === null ? undefined : toUser(row.redeemedUser),
  } satisfies Answer<typeof ListedReservedCouponSchema>;
}
