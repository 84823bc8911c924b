import type { Queryable } from '../../../shared/db/transaction.ts';
import {
  type CouponService,
  GetReservedCouponsResponseSchema,
} from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import { shareResponse } from '../../../shared/rpc/answers/shared-response.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { toUser, type UserTuple, userJson } from '../coupons/relations.ts';
import { type ReservedCouponRow, reservedColumnsWith, toReservedCoupon } from '../coupons/reserved-coupon.ts';
import { Listing } from '../listing/listing.ts';
import { firstPage, isFirstPage, type PageRequest, type PlacedRow } from '../listing/paging.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, getReservedCoupons: lists reserved coupons, or those that a user redeemed, with their creators and redeeming
 * users, latest first. Throws INVALID_ARGUMENT for a page token that belongs to another search or user.
 */
export function getReservedCoupons({ database }: CouponParts): Handler<typeof CouponService.method.getReservedCoupons> {
  const readFirst = shareResponse(database, GetReservedCouponsResponseSchema, (db) => readPage(db, firstPage));
  return (request, call) => (isFirstPage(request) ? readFirst(call) : readPage(database.for(call), request));
}

async function readPage(db: Queryable, request: PageRequest) {
  const { rows, ...next } = await listing.read(db, request);
  return { ...next, coupons: mapped(rows, toListedReservedCoupon) };
}

interface ListedReservedCouponRow extends ReservedCouponRow, PlacedRow {
  creatorName: string;
  productIdsCount: number;
  redeemedUser: UserTuple | null;
}

function toListedReservedCoupon(row: ListedReservedCouponRow) {
  return {
    ...toReservedCoupon(row),
    productIdsCount: row.productIdsCount,
    creator: { id: row.createdBy, name: row.creatorName },
    redeemedUser: row.redeemedUser === null ? undefined : toUser(row.redeemedUser),
  };
}

const listing = new Listing<ListedReservedCouponRow>(
  'reserved coupons',
  'getReservedCoupons',
  {
    table: 'reserved_coupons',
    columns: ['secret_code', 'coupon_code'],
    indexed: `secret_code || E'\\n' || coupon_code`,
    ofUser: 'redeemed_by = (select $userId::integer)',
  },
  {
    columns: (productIds) => `${reservedColumnsWith(productIds)}, staff_users.name as "creatorName",
      case when users.id is not null then ${userJson} end as "redeemedUser"`,
    joined: `join staff_users on staff_users.id = reserved_coupons.created_by
      left join users on users.id = reserved_coupons.redeemed_by`,
  },
);
