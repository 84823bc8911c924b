import { type Queryable, statement } from '../../shared/db/database.ts';
import { creatorJson, type StaffUserRow, type UserRow, userJson } from './coupons.ts';
import { afterPlace, latestFirst, type Page, type PageRequest, type PlacedRow, readPage, toPage } from './paging.ts';
import { type ReservedCouponRow, reservedColumns } from './reserved.ts';
import { containing, searchedRows } from './searching.ts';

/** A reserved coupon as it is listed. */
export interface ListedReservedCouponRow extends ReservedCouponRow, PlacedRow {
  creator: StaffUserRow;
  redeemedUser: UserRow | null;
}

// The page is cut before anything is joined to it.
const listReserved = (rows: string) =>
  `select ${reservedColumns},
     (extract(epoch from reserved.created_at) * 1000000)::bigint as "createdAtMicros",
     ${creatorJson} as creator,
     case when users.id is not null then ${userJson} end as "redeemedUser"
   from (${rows} order by ${latestFirst} limit $4::bigint) as reserved
   join staff_users on staff_users.id = reserved.created_by
   left join users on users.id = reserved.redeemed_by
   order by reserved.created_at desc, reserved.id desc`;

const getReservedRows = statement<ListedReservedCouponRow>(
  'getReservedCoupons',
  listReserved(`select * from reserved_coupons where ${afterPlace}`),
);

const searched = searchedRows(
  {
    table: 'reserved_coupons',
    columns: ['secret_code', 'coupon_code'],
    indexed: `secret_code || E'\\n' || coupon_code`,
    order: latestFirst,
    where: afterPlace,
  },
  { term: '$5', pattern: '$6', count: '$4' },
);
const searchReservedRows = statement<ListedReservedCouponRow>(
  'getReservedCouponsBySearch',
  listReserved(`select * from (${searched}) as found`),
);

/**
 * Spec 4.2, getReservedCoupons: latest first, one row more than the page is read.
 *
 * @throws INVALID_ARGUMENT for a page token that is none of this search.
 */
export async function getReservedCoupons(db: Queryable, request: PageRequest): Promise<Page<ListedReservedCouponRow>> {
  const page = readPage('reserved coupons', request);
  const { search, from, limit } = page;
  const values = [from.createdAt, from.id, from.cursor, limit + 1];
  const rows =
    search === undefined
      ? await db.query(getReservedRows, values)
      : await db.query(searchReservedRows, [...values, search, containing(search)]);
  return toPage('reserved coupons', page, rows);
}
