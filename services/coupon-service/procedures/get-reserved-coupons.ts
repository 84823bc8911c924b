import type { Queryable } from '../../../shared/db/statement.ts';
import {
  type CouponService,
  GetReservedCouponsResponseSchema,
} from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import { shareResponse } from '../../../shared/rpc/answers/share-response.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type ListedReservedCouponRow, listedReserved, toListedReservedCoupon } from '../coupons/reserved-coupon.ts';
import { Listing } from '../listing/listing.ts';
import { firstPage, isFirstPage, type PageRequest, type PlacedRow } from '../listing/paging.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, getReservedCoupons: lists reserved coupons, or those that a user redeemed, with their creators and
 * redeeming users, latest first. Throws INVALID_ARGUMENT for a page token that belongs to another search or user.
 */
export function getReservedCoupons({ database }: CouponParts): Handler<typeof CouponService.method.getReservedCoupons> {
  const readFirst = shareResponse(database, GetReservedCouponsResponseSchema, (db) => readPage(db, firstPage));
  return (request, call) => (isFirstPage(request) ? readFirst(call) : readPage(database.for(call), request));
}

async function readPage(db: Queryable, request: PageRequest) {
  const { rows, ...next } = await listing.read(db, request);
  return { ...next, coupons: mapped(rows, toListedReservedCoupon) };
}

const listing = new Listing<ListedReservedCouponRow & PlacedRow>(
  'reserved coupons',
  'getReservedCoupons',
  {
    table: 'reserved_coupons',
    columns: ['secret_code', 'coupon_code'],
    indexed: `secret_code || E'\\n' || coupon_code`,
    filters: { userId: 'redeemed_by = $userId::integer' },
  },
  listedReserved,
);
