import { fail } from '../../../shared/errors/errors.ts';
import type { VendorSnippetInput, VendorSnippetSchema } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Answer } from '../../../shared/rpc/answers/answer.ts';
import { timeText } from '../../../shared/rpc/answers/answer.ts';
import { readCode } from '../../../shared/rpc/code-text.ts';
import { optionalDate } from '../../../shared/rpc/dates.ts';
import { slotErrors } from '../errors.ts';

/** A stored vendor snippet (spec 2.3). */
export interface SnippetRow {
  snippetCode: string;
  slotId: number;
  productIds: number[];
  validTill: Date | number | null;
}

/** Converts a record to a `VendorSnippet`. */
export function toSnippet({ validTill, ...snippet }: SnippetRow) {
  const fields = { ...snippet, validTill: validTill?.valueOf() };
  return fields satisfies Answer<typeof VendorSnippetSchema>;
}

type GivenSnippet = Omit<SnippetRow, 'slotId'> & { validTill: Date | null };

const toJson = ({ snippetCode, productIds, validTill }: GivenSnippet) => ({
  snippetCode,
  productIds,
  validTill: validTill === null ? undefined : timeText(validTill.getTime()),
});

const byName = (left: GivenSnippet, right: GivenSnippet) => (left.snippetCode < right.snippetCode ? -1 : 1);

/** The snippets of a request, before their slot's id is known. */
export interface GivenSnippets {
  readonly snippets: readonly GivenSnippet[];
  /** How many product ids they have together. */
  readonly listedIds: number;
  /**
   * The INVALID_ARGUMENT for the first name that `readCode` refuses or date that does not parse;
   * undefined if there is none.
   */
  readonly inputError: unknown;
  /** The parameters of `snippetFindings`, `snippetsAreSound` and `insertSnippets`. */
  readonly params: SnippetParams;
}

export interface SnippetParams {
  /** The snippets to store, ordered by name, in the form of audit entries. */
  readonly snippetsJson: string;
  readonly snippetProductIds: readonly number[];
  readonly snippetNames: readonly string[];
  /** Whether the request itself is valid: all names and dates are, and no name occurs twice. */
  readonly snippetsMayBeSound: boolean;
}

/** Reads the snippets of createSlot and updateSlot (spec 4.1). Never throws: `brokenSnippetRule` returns the errors. */
export function readSnippets(given: readonly VendorSnippetInput[]): GivenSnippets {
  let inputError: unknown;
  const snippets = given.map(({ name, productIds, validTill }, index) => {
    const field = `vendor_snippets[${index}]`;
    try {
      const snippetCode = readCode(`${field}.name`, name);
      return { snippetCode, productIds, validTill: optionalDate(`${field}.valid_till`, validTill) };
    } catch (error) {
      inputError ??= error;
      return { snippetCode: name, productIds, validTill: null };
    }
  });
  const names = snippets.map(({ snippetCode }) => snippetCode);
  const params = {
    snippetsJson: JSON.stringify(snippets.toSorted(byName).map(toJson)),
    snippetProductIds: [...new Set(given.flatMap(({ productIds }) => productIds))],
    snippetNames: names,
    snippetsMayBeSound: inputError === undefined && new Set(names).size === names.length,
  };
  const listedIds = given.reduce((sum, { productIds }) => sum + productIds.length, 0);
  return { snippets, listedIds, inputError, params };
}

/** The problems of the snippets that a statement found. */
export interface SnippetFindings {
  unknownProducts: number[];
  takenNames: string[];
}

/** SQL of the columns of `SnippetFindings`, for a common table expression `found`. */
export const snippetFindings = `
  array(
    select unnest($snippetProductIds::integer[])
    except select id from products where id = any($snippetProductIds::integer[])
  ) as "unknownProducts",
  array(select snippet_code from vendor_snippets where snippet_code = any($snippetNames::text[])) as "takenNames"`;

/** SQL of the condition that no rule of snippets is broken. */
export const snippetsAreSound = `
  $snippetsMayBeSound::boolean and "unknownProducts" = '{}' and "takenNames" = '{}'`;

/**
 * SQL of a common table expression that stores the snippets of the slot in `written`. Inserting by name prevents
 * deadlocks between requests with the same names.
 */
export const insertSnippets = `
  snippets as (
    insert into vendor_snippets (slot_id, snippet_code, product_ids, valid_till)
    select written.id, given."snippetCode", given."productIds", given."validTill"
    from written,
      jsonb_to_recordset($snippetsJson) as given ("snippetCode" text, "productIds" integer[], "validTill" timestamptz)
    order by given."snippetCode" collate "C"
    on conflict (snippet_code) do nothing
    returning 1
  )`;

/**
 * SQL of a column that fails the statement if another transaction takes the name of one of its
 * `snippets` at the last moment.
 */
export const refuseLostSnippetRace = `
  case when (select count(*) from snippets) < (select cardinality($snippetNames) from written)
    then refuse_lost_race()
  end as "lostRace"`;

/** SQL of the stored snippets of the slot `$id`, in the form of `snippetsJson`. */
export const snippetsStored = `(
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'snippetCode', snippet_code, 'productIds', product_ids, 'validTill', api_time(valid_till)
  )) order by id), '[]')
  from vendor_snippets where slot_id = $id
)`;

/**
 * Returns the error of the first broken rule of snippets (spec 4.1 and 7), of a write that `snippetsAreSound` has
 * prevented. For each snippet, products are checked before the name (design 7).
 *
 * The error is INVALID_ARGUMENT for a name that `readCode` refuses, a date that does not parse and products that do not
 * exist, and ALREADY_EXISTS for a name that is taken, even by an earlier snippet of the same request.
 */
export function brokenSnippetRule({ snippets, inputError }: GivenSnippets, found: SnippetFindings): unknown {
  if (inputError !== undefined) return inputError;
  const unknown = new Set(found.unknownProducts);
  const taken = new Set(found.takenNames);
  for (const { snippetCode: name, productIds } of snippets) {
    if (productIds.some((id) => unknown.has(id))) return fail(slotErrors.snippetProductsInvalid, { params: { name } });
    if (taken.has(name)) return fail(slotErrors.snippetNameTaken, { params: { name } });
    taken.add(name);
  }
  return new Error('the statement refuses snippets that break no rule');
}

/** Returns the snippets as stored with their slot. */
export function toCreatedSnippets({ snippets }: GivenSnippets, slotId: number) {
  return snippets.map((snippet) => toSnippet({ ...snippet, slotId }));
}
