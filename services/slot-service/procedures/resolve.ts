import { onlyRow, statement } from '../../../shared/db/statement.ts';
import { invalidField } from '../../../shared/errors/errors.ts';
import type { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { CatalogParts } from '../parts.ts';

const maxIds = 1_000;

/** Design 14, Resolve: the ids of records by their external ids. Omits unknown ones. Throws INVALID_ARGUMENT for too many. */
export function resolve({ database }: CatalogParts): Handler<typeof CatalogService.method.resolve> {
  return async (request, call) => {
    const { userExternalIds, productExternalIds, groupExternalIds, orderExternalIds } = request;
    const asked = [userExternalIds, productExternalIds, groupExternalIds, orderExternalIds].flat().length;
    if (asked > maxIds) throw invalidField('external_ids', `at most ${maxIds} in all`);
    const found = onlyRow(await database.for(call).query(selectIds(request)));
    return {
      users: new Map(found.users),
      products: new Map(found.products),
      groups: new Map(found.groups),
      orders: new Map(found.orders),
    };
  };
}

type Pairs = [externalId: string, id: number][];

const pairs = (table: string, asked: string) =>
  `(select coalesce(json_agg(json_build_array(external_id, id)), '[]') from ${table} where external_id = any($${asked}::text[]))`;

const selectIds = statement<
  { users: Pairs; products: Pairs; groups: Pairs; orders: Pairs },
  Readonly<
    Record<'userExternalIds' | 'productExternalIds' | 'groupExternalIds' | 'orderExternalIds', readonly string[]>
  >
>(
  'resolve',
  `select ${pairs('users', 'userExternalIds')} as users, ${pairs('products', 'productExternalIds')} as products,
     ${pairs('product_groups', 'groupExternalIds')} as groups, ${pairs('orders', 'orderExternalIds')} as orders`,
);
