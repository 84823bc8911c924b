import { statement } from '../../../shared/db/statement.ts';
import type { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type ListedUserRow, shownName } from '../catalog/catalog.ts';
import type { CatalogParts } from '../parts.ts';

/** Design 11, GetUsers: lists users by their ids, ordered by name, nulls last, then id. Omits ids without a user. */
export function getUsers({ database }: CatalogParts): Handler<typeof CatalogService.method.getUsers> {
  return async ({ userIds }, call) => {
    if (userIds.length === 0) return { users: [] };
    const users = await database.for(call).query(selectUsers({ userIds }));
    return { users };
  };
}

const selectUsers = statement<ListedUserRow, { userIds: readonly number[] }>(
  'getUsers',
  `select id, ${shownName} as name, coalesce(mobile, '') as mobile from users
   where id = any($userIds::integer[])
   order by nullif(users.name, '') collate "und-x-icu" asc nulls last, id`,
);
