import { statement } from '../../../shared/db/statement.ts';
import type { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { CatalogParts } from '../parts.ts';

const defaultLimit = 20;

/**
 * Design 11, SearchSnippets: finds vendor snippets by the beginning of their code, in any case, ordered by code. The
 * search is not trimmed; a blank one finds none (design 7).
 */
export function searchSnippets({ database }: CatalogParts): Handler<typeof CatalogService.method.searchSnippets> {
  return async ({ search = '', limit = defaultLimit }, call) => {
    if (search.trim() === '') return { snippets: [] };
    const start = search.normalize('NFC');
    const snippets = await database.for(call).query(selectSnippets({ start, limit }));
    return { snippets };
  };
}

interface SnippetPlaceRow {
  snippetCode: string;
  slotId: number;
}

/** SQL of a text in the form in which codes are compared: that of the index (migration 0022). */
const folded = (text: string) => `upper(${text} collate "und-x-icu") collate "C"`;

// A text begins with another one if it lies between it and the same with the greatest character after it, as often as a
// code may be long. A LIKE could not use the index, because the plan is made before the parameters are known.
const selectSnippets = statement<SnippetPlaceRow, { start: string; limit: number }>(
  'searchSnippets',
  `select snippet_code as "snippetCode", slot_id as "slotId" from vendor_snippets
   where ${folded('snippet_code')} >= ${folded('$start::text')}
     and ${folded('snippet_code')} <= ${folded('$start::text')} || repeat(chr(1114111), 128)
   order by ${folded('snippet_code')}, snippet_code collate "C"
   limit $limit::bigint`,
);
