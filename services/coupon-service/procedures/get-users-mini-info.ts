import { statement } from '../../../shared/db/statement.ts';
import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { readSearch, type Search, searchedIds } from '../listing/searching.ts';
import type { CouponParts } from '../parts.ts';

const defaultLimit = 20;
// To skip a row takes time, too.
const maxListed = 1_000_000;
const maxFound = 1_000;

/**
 * Spec 4.2, getUsersMiniInfo: users by a part of their name or mobile, ordered by name. Those beyond the
 * first million, and beyond the first 1,000 of a search, are not shown (design 8).
 */
export function getUsersMiniInfo({ database }: CouponParts): Handler<typeof CouponService.method.getUsersMiniInfo> {
  return async (request, call) => {
    const { offset = 0 } = request;
    const search = readSearch(request.search);
    const maxShown = search === undefined ? maxListed : maxFound;
    const limit = Math.min(request.limit ?? defaultLimit, maxShown - offset);
    if (limit <= 0) return { users: [] };
    const page = { limit, offset };
    const users = await database
      .for(call)
      .query(search === undefined ? listUsers(page) : searchUsers({ ...page, ...search, rows: limit + offset }));
    return { users };
  };
}

interface UserMiniInfo {
  id: number;
  name: string;
  mobile: string;
}

interface UserPage {
  limit: number;
  offset: number;
}

// An empty name counts as none (design 7).
const byName = `nullif(name, '') asc nulls last, id`;

const pageOf = (rows: string) =>
  `select id, coalesce(nullif(name, ''), 'Unknown') as name, mobile
   from (${rows}) as users
   order by ${byName}
   limit $limit::integer offset $offset::integer`;

const listUsers = statement<UserMiniInfo, UserPage>('getUsersMiniInfo', pageOf('select * from users'));

const found = searchedIds({
  table: 'users',
  columns: ['name', 'mobile'],
  indexed: `coalesce(name, '') || E'\\n' || mobile`,
  placedBy: 'name',
  order: byName,
  where: 'true',
});
const searchUsers = statement<UserMiniInfo, UserPage & Search & { rows: number }>(
  'getUsersMiniInfoBySearch',
  pageOf(
    `select users.* from (${found}) as found, lateral (select * from users where id = found.id offset 0) as users`,
  ),
);
