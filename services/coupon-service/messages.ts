import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type {
  CouponBody as CouponBodyMessage,
  CouponDetailSchema,
  CouponSchema,
  ListedCouponSchema,
  ListedReservedCouponSchema,
  ReservedCouponSchema,
  UserSchema,
} from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { optionalDate } from '../../shared/rpc/dates.ts';
import type { ListedCouponRow } from './coupon-listing.ts';
import type { CouponBody, CouponRow, TermsRow } from './coupon-records.ts';
import type { CouponDetailRow, UserRow } from './coupons.ts';
import type { ReservedCouponRow } from './reserved.ts';
import type { ListedReservedCouponRow } from './reserved-listing.ts';

/** Between the messages of the contract and the plain values of the rules. */

/**
 * Reads a CouponBody; an absent one is an empty one.
 *
 * @param field where it stands in the request.
 * @throws INVALID_ARGUMENT for a date that does not parse: that is type checking, before any rule.
 */
export function readCouponBody(
  field: 'coupon' | 'updates.coupon',
  body: Partial<CouponBodyMessage> | undefined = {},
): CouponBody {
  const { validTill } = body;
  return {
    couponCode: body.couponCode,
    isUserBased: body.isUserBased,
    discountPercent: body.discountPercent,
    flatDiscount: body.flatDiscount,
    minOrder: body.minOrder,
    productIds: body.clearProductIds ? null : body.productIds?.ids,
    applicableUsers: body.applicableUsers?.ids,
    applicableProducts: body.applicableProducts?.ids,
    maxValue: body.maxValue,
    isApplyForAll: body.isApplyForAll,
    validTill: validTill === undefined ? undefined : optionalDate(`${field}.valid_till`, validTill),
    maxLimitForUser: body.maxLimitForUser,
    exclusiveApply: body.exclusiveApply,
  };
}

function toTerms(row: TermsRow) {
  return {
    discountPercent: row.discountPercent ?? undefined,
    flatDiscount: row.flatDiscount ?? undefined,
    minOrder: row.minOrder ?? undefined,
    maxValue: row.maxValue ?? undefined,
    productIds: row.productIds === null ? undefined : { ids: row.productIds },
    validTill: row.validTill === null ? undefined : timestampFromDate(row.validTill),
    maxLimitForUser: row.maxLimitForUser ?? undefined,
    exclusiveApply: row.exclusiveApply,
  };
}

export function toCoupon(row: CouponRow) {
  return {
    ...toTerms(row),
    id: row.id,
    couponCode: row.couponCode,
    isUserBased: row.isUserBased,
    isApplyForAll: row.isApplyForAll,
    isInvalidated: row.isInvalidated,
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
  } satisfies MessageInitShape<typeof CouponSchema>;
}

function toUser({ id, name, email, mobile }: UserRow) {
  return { id, name: name ?? undefined, email: email ?? undefined, mobile } satisfies MessageInitShape<
    typeof UserSchema
  >;
}

export function toCouponDetail(row: CouponDetailRow) {
  return {
    ...toCoupon(row),
    creator: row.creator,
    applicableUsers: row.applicableUsers.map(toUser),
    applicableProducts: row.applicableProducts,
  } satisfies MessageInitShape<typeof CouponDetailSchema>;
}

export function toListedCoupon(row: ListedCouponRow) {
  return {
    ...toCoupon(row),
    creator: row.creator,
    applicableUsers: row.applicableUsers.map((link) => ({ ...link, user: toUser(link.user) })),
    applicableProducts: row.applicableProducts,
  } satisfies MessageInitShape<typeof ListedCouponSchema>;
}

export function toReservedCoupon(row: ReservedCouponRow) {
  return {
    ...toTerms(row),
    id: row.id,
    secretCode: row.secretCode,
    couponCode: row.couponCode,
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
  } satisfies MessageInitShape<typeof ReservedCouponSchema>;
}

export function toListedReservedCoupon(row: ListedReservedCouponRow) {
  return {
    ...toReservedCoupon(row),
    creator: row.creator,
    redeemedUser: row.redeemedUser === null ? undefined : toUser(row.redeemedUser),
  } satisfies MessageInitShape<typeof ListedReservedCouponSchema>;
}
