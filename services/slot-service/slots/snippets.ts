import type { MessageInitShape } from '@bufbuild/protobuf';
import { fail } from '../../../shared/errors/errors.ts';
import type { VendorSnippetInput, VendorSnippetSchema } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { readCode } from '../../../shared/rpc/code-text.ts';
import { optionalDate } from '../../../shared/rpc/dates.ts';
import { shownList, shownTime } from '../../../shared/rpc/protobuf/shown.ts';
import { timestampToJson } from '../../../shared/rpc/protobuf/timestamp.ts';
import { slotErrors } from '../errors.ts';

/** A vendor snippet as it is stored (spec 2.3). */
export interface SnippetRow {
  snippetCode: string;
  slotId: number;
  productIds: number[];
  validTill: Date | null;
}

/** The record as a `VendorSnippet`. */
export function toSnippet({ productIds, validTill, ...snippet }: SnippetRow) {
  const record = { ...snippet, productIds: shownList(productIds), validTill: shownTime(validTill) };
  return record satisfies MessageInitShape<typeof VendorSnippetSchema>;
}

type GivenSnippet = Omit<SnippetRow, 'slotId'>;

const toJson = ({ snippetCode, productIds, validTill }: GivenSnippet) => ({
  ...{ snippetCode, productIds },
  ...(validTill === null ? {} : { validTill: timestampToJson(validTill.getTime()) }),
});

const byName = (left: GivenSnippet, right: GivenSnippet) => (left.snippetCode < right.snippetCode ? -1 : 1);

/** The snippets of a request, before their slot is known. */
export interface GivenSnippets {
  readonly snippets: readonly GivenSnippet[];
  /** INVALID_ARGUMENT for the first name that nobody could type, or date that does not parse; undefined without one. */
  readonly inputError: unknown;
  /** The parameters of `snippetFindings`, `snippetsAreSound` and `insertSnippets`. */
  readonly params: SnippetParams;
}

export interface SnippetParams {
  /** What is stored, as audit entries show it: by name. */
  readonly snippetsJson: string;
  readonly snippetProductIds: readonly number[];
  readonly snippetNames: readonly string[];
  /** What the request alone shows: all names and dates are good, and no name stands twice. */
  readonly snippetsMayBeSound: boolean;
}

/** Reads the snippets of createSlot and updateSlot (spec 4.1). Throws nothing: see `checkSnippets`. */
export function readSnippets(given: readonly VendorSnippetInput[]): GivenSnippets {
  let inputError: unknown;
  const snippets = given.map(({ name, productIds, validTill }, index) => {
    const field = `vendor_snippets[${index}]`;
    try {
      const snippetCode = readCode(`${field}.name`, name);
      return { snippetCode, productIds, validTill: optionalDate(`${field}.valid_till`, validTill) ?? null };
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
  return { snippets, inputError, params };
}

/** What a statement found of the snippets. */
export interface SnippetFindings {
  unknownProducts: number[];
  takenNames: string[];
}

/** SQL of the columns of `SnippetFindings`, in a common table expression `found`. */
export const snippetFindings = `
  array(
    select unnest((select $snippetProductIds::integer[]))
    except select id from products where id = any((select $snippetProductIds::integer[])::integer[])
  ) as "unknownProducts",
  array(select snippet_code from vendor_snippets where snippet_code = any((select $snippetNames::text[])::text[])) as "takenNames"`;

/** SQL of the condition under which `checkSnippets` throws nothing. */
export const snippetsAreSound = `
  $snippetsMayBeSound::boolean and "unknownProducts" = '{}' and "takenNames" = '{}'`;

/**
 * SQL of a common table expression that stores the snippets of the one slot in `written`. The order by
 * name keeps two requests with the same names from deadlocking.
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

/** SQL of a column that undoes the statement when another transaction has taken the name of one of its `snippets` at the last moment. */
export const snippetsWritten = `
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
 * The rules of snippets (spec 4.1 and 7), in their order; of one snippet, the products come before the
 * name (design 7).
 *
 * @throws INVALID_ARGUMENT for a name that nobody could type, a date that does not parse and products that do not exist,
 * ALREADY_EXISTS for a name that is taken, also by an earlier snippet of the same request.
 */
export function checkSnippets({ snippets, inputError }: GivenSnippets, found: SnippetFindings): void {
  if (inputError !== undefined) throw inputError;
  const unknown = new Set(found.unknownProducts);
  const taken = new Set(found.takenNames);
  for (const { snippetCode: name, productIds } of snippets) {
    if (productIds.some((id) => unknown.has(id))) throw fail(slotErrors.snippetProductsInvalid, { params: { name } });
    if (taken.has(name)) throw fail(slotErrors.snippetNameTaken, { params: { name } });
    taken.add(name);
  }
}

/** The snippets as they are stored with their slot. */
export function toCreatedSnippets({ snippets }: GivenSnippets, slotId: number) {
  return snippets.map((snippet) => toSnippet({ ...snippet, slotId }));
}
