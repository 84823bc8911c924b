import { statement } from '../../../shared/db/statement.ts';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import type { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { CatalogParts } from '../parts.ts';

// More groups are an error, because a truncated list would look complete.
const maxGroups = 10_000;

/**
 * Design 11, ListProductGroups: lists all product groups, ordered by name, then id. Throws
 * RESOURCE_EXHAUSTED for more than 10,000.
 */
export function listProductGroups({ database }: CatalogParts): Handler<typeof CatalogService.method.listProductGroups> {
  return async (_request, call) => {
    const groups = await database.for(call).query(selectGroups());
    if (groups.length > maxGroups) throw fail(commonErrors.answerTooLarge);
    return { groups };
  };
}

interface GroupRow {
  id: number;
  name: string;
}

// Reads at most one group more than an answer may have.
const selectGroups = statement<GroupRow>(
  'listProductGroups',
  `select id, name from (select id, name from product_groups limit ${maxGroups} + 1) as groups order by name collate "und-x-icu", id`,
);
