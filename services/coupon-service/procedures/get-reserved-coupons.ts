import { statement } from '../../../shared/db/statement.ts';
import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { creatorJson, type StaffUserRow, toUser, type UserRow, userJson } from '../coupons/relations.ts';
import { type ReservedCouponRow, reservedColumns, toReservedCoupon } from '../coupons/reserved-coupon.ts';
import {
  createdAtMicros,
  latestFirst,
  type PagePlace,
  type PlacedRow,
  placedAfter,
  readPage,
  toPage,
} from '../listing/paging.ts';
import { type Search, searchedRows } from '../listing/searching.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, getReservedCoupons: with their creators and the users who redeemed them, latest first.
 * Throws INVALID_ARGUMENT for a page token of another search.
 */
export function getReservedCoupons({ database }: CouponParts): Handler<typeof CouponService.method.getReservedCoupons> {
  return async (request, call) => {
    const db = database.withSignal(call.signal);
    const page = readPage('reserved coupons', request);
    const { place, search } = page;
    const found = await db.query(search === undefined ? listReserved(place) : searchReserved({ ...place, ...search }));
    const { rows, ...next } = toPage(page, found);
    return { coupons: rows.map(toListedReservedCoupon), ...next };
  };
}

interface ListedReservedCouponRow extends ReservedCouponRow, PlacedRow {
  creator: StaffUserRow;
  redeemedUser: UserRow | null;
}

function toListedReservedCoupon(row: ListedReservedCouponRow) {
  const redeemedUser = row.redeemedUser === null ? undefined : toUser(row.redeemedUser);
  return { ...toReservedCoupon(row), creator: row.creator, redeemedUser };
}

/** SQL that cuts the page before anything is joined to it. */
const pageOf = (rows: string) =>
  `select ${reservedColumns}, ${createdAtMicros('reserved')}, ${creatorJson} as creator,
     case when users.id is not null then ${userJson} end as "redeemedUser"
   from (${rows} order by ${latestFirst} limit $rows::bigint) as reserved
   join staff_users on staff_users.id = reserved.created_by
   left join users on users.id = reserved.redeemed_by
   order by reserved.created_at desc, reserved.id desc`;

const listReserved = statement<ListedReservedCouponRow, PagePlace>(
  'getReservedCoupons',
  pageOf(`select * from reserved_coupons where ${placedAfter}`),
);

const searched = searchedRows({
  table: 'reserved_coupons',
  columns: ['secret_code', 'coupon_code'],
  indexed: `secret_code || E'\\n' || coupon_code`,
  order: latestFirst,
  where: placedAfter,
});
const searchReserved = statement<ListedReservedCouponRow, PagePlace & Search>(
  'getReservedCouponsBySearch',
  pageOf(`select * from (${searched}) as found`),
);
