import { statement } from '../../../shared/db/statement.ts';
import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import {
  findStatement,
  foundRows,
  type LookUpPage,
  readLookUp,
  showFound,
} from '../../../shared/searching/searching.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, getUsersMiniInfo: finds users by a part of their name or mobile, ordered by name. Users beyond the first
 * million, and matches beyond the first 1,000, are not shown (design 8).
 */
export function getUsersMiniInfo({ database }: CouponParts): Handler<typeof CouponService.method.getUsersMiniInfo> {
  return async (request, call) => {
    const lookUp = readLookUp(request);
    if (lookUp === undefined) return { users: [] };
    const { page, search } = lookUp;
    const db = database.for(call);
    if (search === undefined) return { users: await db.query(listUsers(page)) };
    const find = findUsers({ ...search, rows: page.limit + page.offset });
    return { users: await showFound(db, find, foundUsers(page)) };
  };
}

interface UserMiniInfo {
  id: number;
  name: string;
  mobile: string;
}

// Names sort in the order that people expect. An empty name counts as none (design 7).
const byName = `nullif(name, '') collate "und-x-icu" asc nulls last, id`;

const pageOf = (rows: string) =>
  `select id, coalesce(nullif(name, ''), 'Unknown') as name, coalesce(mobile, '') as mobile
   from (${rows}) as users
   order by ${byName}
   limit $limit::integer offset $offset::integer`;

const listUsers = statement<UserMiniInfo, LookUpPage>('getUsersMiniInfo', pageOf('select * from users'));

const findUsers = findStatement('findUsersMiniInfo', {
  table: 'users',
  columns: ['name', 'mobile'],
  indexed: `coalesce(name, '') || E'\\n' || coalesce(mobile, '')`,
  order: byName,
  where: 'true',
});
const foundUsers = statement<UserMiniInfo, LookUpPage>('foundUsersMiniInfo', pageOf(foundRows('users')));
