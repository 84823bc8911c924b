import { type Queryable, statement } from '../../shared/db/database.ts';
import { type CouponRow, couponColumns } from './coupon-records.ts';
import { creatorJson, type ProductRow, productJson, type StaffUserRow, type UserRow, userJson } from './coupons.ts';
import { afterPlace, latestFirst, type Page, type PageRequest, type PlacedRow, readPage, toPage } from './paging.ts';
import { containing, searchedRows } from './searching.ts';

/** A coupon as getAll lists it: with its creator and its link rows. */
export interface ListedCouponRow extends CouponRow, PlacedRow {
  creator: StaffUserRow;
  applicableUsers: { id: number; couponId: number; userId: number; user: UserRow }[];
  applicableProducts: { id: number; couponId: number; productId: number; product: ProductRow }[];
}

// The page is cut before anything is joined to it.
const listCoupons = (rows: string) =>
  `select ${couponColumns},
     (extract(epoch from coupons.created_at) * 1000000)::bigint as "createdAtMicros",
     ${creatorJson} as creator,
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
   from (${rows} order by ${latestFirst} limit $4::bigint) as coupons
   join staff_users on staff_users.id = coupons.created_by
   order by coupons.created_at desc, coupons.id desc`;

const getAllRows = statement<ListedCouponRow>('getAll', listCoupons(`select * from coupons where ${afterPlace}`));

const searched = searchedRows(
  { table: 'coupons', columns: ['coupon_code'], indexed: 'coupon_code', order: latestFirst, where: afterPlace },
  { term: '$5', pattern: '$6', count: '$4' },
);
const searchRows = statement<ListedCouponRow>('getAllBySearch', listCoupons(`select * from (${searched}) as found`));

/**
 * Spec 4.2, getAll: latest first, one row more than the page is read.
 *
 * @throws INVALID_ARGUMENT for a page token that is none of this search.
 */
export async function getAllCoupons(db: Queryable, request: PageRequest): Promise<Page<ListedCouponRow>> {
  const page = readPage('coupons', request);
  const { search, from, limit } = page;
  const values = [from.createdAt, from.id, from.cursor, limit + 1];
  const rows =
    search === undefined
      ? await db.query(getAllRows, values)
      : await db.query(searchRows, [...values, search, containing(search)]);
  return toPage('coupons', page, rows);
}
