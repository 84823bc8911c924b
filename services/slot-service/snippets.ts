import { type Queryable, statement } from '../../shared/db/database.ts';
import { optionalDate } from '../../shared/rpc/dates.ts';
import { fail } from '../../shared/rpc/errors.ts';
import { slotErrors } from './errors.ts';

/** A vendor snippet as it is stored (spec 2.3). */
export interface SnippetRow {
  snippetCode: string;
  slotId: number;
  productIds: number[];
  validTill: Date | null;
}

export interface SnippetInput {
  readonly name: string;
  readonly productIds: readonly number[];
  readonly validTill?: string | undefined;
}

const existingProducts = statement<{ id: number }>('existingProducts', 'select id from products where id = any($1)');

// Ordered by code, so that two requests with the same names can't wait for each other.
const insertSnippets = statement<SnippetRow>(
  'insertSnippets',
  `insert into vendor_snippets (slot_id, snippet_code, product_ids, valid_till)
   select $1, snippet.name, array(select jsonb_array_elements_text(snippet.product_ids)::integer), snippet.valid_till
   from jsonb_to_recordset($2) as snippet (name text, product_ids jsonb, valid_till timestamptz, position integer)
   order by snippet.name collate "C", snippet.position
   on conflict (snippet_code) do nothing
   returning snippet_code as "snippetCode", slot_id as "slotId", product_ids as "productIds", valid_till as "validTill"`,
);

/**
 * Creates the snippets of a slot (spec 4.1, createSlot and updateSlot).
 *
 * The snippets are checked in their order, and within one its products before its name (design 7).
 * The unique constraint judges the names, so that of two calls that race one fails.
 *
 * @returns the created snippets in the order of the input.
 * @throws INVALID_ARGUMENT for a date that does not parse or products that don't exist,
 * ALREADY_EXISTS for a name that is taken, also by an earlier snippet of the same input.
 */
export async function createSnippets(
  tx: Queryable,
  slotId: number,
  snippets: readonly SnippetInput[],
): Promise<SnippetRow[]> {
  if (snippets.length === 0) return [];
  const dates = snippets.map(({ validTill }, index) => optionalDate(`vendor_snippets[${index}].valid_till`, validTill));
  const productIds = [...new Set(snippets.flatMap((snippet) => snippet.productIds))];
  const products = new Set((await tx.query(existingProducts, [productIds])).map(({ id }) => id));
  const invalid = snippets.findIndex((snippet) => !snippet.productIds.every((id) => products.has(id)));
  // Past the first snippet with unknown products no name can be the first thing that is wrong.
  const insertable = invalid === -1 ? snippets : snippets.slice(0, invalid);
  const records = insertable.map((snippet, position) => ({
    name: snippet.name,
    product_ids: [...new Set(snippet.productIds)],
    valid_till: dates[position],
    position,
  }));
  const created = new Map<string, SnippetRow>();
  for (const row of await tx.query(insertSnippets, [slotId, JSON.stringify(records)])) {
    created.set(row.snippetCode, row);
  }
  const result: SnippetRow[] = [];
  for (const { name } of insertable) {
    const row = created.get(name);
    if (row === undefined) throw fail(slotErrors.snippetNameTaken, { params: { name } });
    created.delete(name);
    result.push(row);
  }
  const offender = snippets[invalid];
  if (offender !== undefined) throw fail(slotErrors.snippetProductsInvalid, { params: { name: offender.name } });
  return result;
}
