import { type Queryable, statement } from '../../shared/db/database.ts';
import { searchTerm } from './paging.ts';
import { containing, searchedRows } from './searching.ts';

export interface UserMiniInfo {
  readonly id: number;
  readonly name: string;
  readonly mobile: string;
}

export interface UserLookup {
  readonly search?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

const defaultLimit = 20;

// An empty name counts as none (design 7).
const byName = `nullif(name, '') asc nulls last, id`;

const lookUpUsers = (rows: string) =>
  `select id, coalesce(nullif(name, ''), 'Unknown') as name, mobile
   from (${rows}) as users
   order by ${byName}
   limit $1::integer offset $2::integer`;

const getUsersRows = statement<UserMiniInfo>('getUsersMiniInfo', lookUpUsers('select * from users'));

const searched = searchedRows(
  {
    table: 'users',
    columns: ['name', 'mobile'],
    indexed: `coalesce(name, '') || E'\\n' || mobile`,
    order: byName,
    where: 'true',
  },
  { term: '$3', pattern: '$4', count: '($1::bigint + $2::bigint)' },
);
const searchUsersRows = statement<UserMiniInfo>('getUsersMiniInfoBySearch', lookUpUsers(searched));

/** Spec 4.2, getUsersMiniInfo: users by a part of their name or mobile, ordered by name. */
export function getUsersMiniInfo(db: Queryable, lookup: UserLookup): Promise<UserMiniInfo[]> {
  const search = searchTerm(lookup.search);
  const values = [lookup.limit ?? defaultLimit, lookup.offset ?? 0];
  return search === undefined
    ? db.query(getUsersRows, values)
    : db.query(searchUsersRows, [...values, search, containing(search)]);
}
