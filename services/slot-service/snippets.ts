import { databaseErrors, violates } from '../../shared/db/errors.ts';
import { fail } from '../../shared/errors/errors.ts';
import { optionalDate } from '../../shared/rpc/dates.ts';
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
  /** A set. */
  readonly productIds: readonly number[];
  readonly validTill?: string | undefined;
}

/** The snippets of one request, read and ready to be stored. */
export interface SnippetsToStore {
  readonly snippets: readonly Omit<SnippetRow, 'slotId'>[];
  /** What is wrong with them before the database is asked: a date, which counts before all else. */
  readonly fault: unknown;
  /** The parameters $1 to $4 of a statement with `snippetChecks` and `insertSnippets`. */
  readonly values: readonly [snippets: string, productIds: number[], names: string[], storable: boolean];
}

/** Reads the snippets of createSlot and updateSlot (spec 4.1). Throws nothing: see `refuseSnippets`. */
export function readSnippets(given: readonly SnippetInput[]): SnippetsToStore {
  let fault: unknown;
  const readDate = (text: string | undefined, index: number) => {
    if (fault !== undefined) return null;
    try {
      return optionalDate(`vendor_snippets[${index}].valid_till`, text);
    } catch (error) {
      fault = error;
      return null;
    }
  };
  const snippets = given.map(({ name, productIds, validTill }, index) => ({
    snippetCode: name,
    productIds: [...productIds],
    validTill: readDate(validTill, index),
  }));
  const names = [...new Set(given.map(({ name }) => name))];
  const productIds = [...new Set(given.flatMap((snippet) => snippet.productIds))];
  const storable = fault === undefined && names.length === given.length;
  return { snippets, fault, values: [JSON.stringify(snippets), productIds, names, storable] };
}

/** What `snippetChecks` found wrong; nothing is written unless both are empty. */
export interface SnippetChecks {
  unknownProducts: number[];
  takenNames: string[];
}

/** A common table expression with one row when the snippets can be stored, else with none. */
export const snippetChecks = `
  snippet_checks as (
    select array(select unnest($2::integer[]) except select id from products where id = any($2)) as unknown_products,
      array(select snippet_code from vendor_snippets where snippet_code = any($3::text[])) as taken_names
  ),
  storable as (select from snippet_checks where $4::boolean and unknown_products = '{}' and taken_names = '{}')`;

/** The columns of `SnippetChecks`, from `snippet_checks`. */
export const snippetCheckColumns = 'unknown_products as "unknownProducts", taken_names as "takenNames"';

/**
 * A common table expression that stores the snippets of the one slot in `slots`. Ordered by name, so
 * that two requests with the same names can't wait for each other. A name that a call at the same
 * time has stored fails the statement: see `untilSnippetsSettle`.
 */
export function insertSnippets(slots: string): string {
  return `snippets as (
    insert into vendor_snippets (slot_id, snippet_code, product_ids, valid_till)
    select ${slots}.id, given."snippetCode", given."productIds", given."validTill"
    from ${slots},
      jsonb_to_recordset($1) as given ("snippetCode" text, "productIds" integer[], "validTill" timestamptz)
    order by given."snippetCode" collate "C"
  )`;
}

const maxAttempts = 3;

/**
 * Runs a write that stores snippets, again when another call took a name after the statement began:
 * the next run sees it among those that are taken, and writes nothing.
 */
export async function untilSnippetsSettle<Result>(write: () => Promise<Result>): Promise<Result> {
  for (let run = 1; ; run += 1) {
    try {
      return await write();
    } catch (error) {
      if (!violates(error, 'snippetCode')) throw error;
      if (run === maxAttempts) throw fail(databaseErrors.conflict, { cause: error });
    }
  }
}

/**
 * Throws what kept the snippets from being stored: they are checked in their order, and within one
 * its products before its name (design 7).
 *
 * @throws INVALID_ARGUMENT for a date that does not parse or products that don't exist,
 * ALREADY_EXISTS for a name that is taken, also by an earlier snippet of the same request.
 */
export function refuseSnippets({ snippets, fault }: SnippetsToStore, checks: SnippetChecks): never {
  if (fault !== undefined) throw fault;
  const unknown = new Set(checks.unknownProducts);
  const taken = new Set(checks.takenNames);
  for (const { snippetCode: name, productIds } of snippets) {
    if (productIds.some((id) => unknown.has(id))) throw fail(slotErrors.snippetProductsInvalid, { params: { name } });
    if (taken.has(name)) throw fail(slotErrors.snippetNameTaken, { params: { name } });
    taken.add(name);
  }
  throw new Error('nothing is wrong with the snippets');
}
