import { type Actor, auditEntry } from '../../../shared/audit/entry.ts';
import { microsOf, timeOf } from '../../../shared/db/micros.ts';
import { type Queryable, statement } from '../../../shared/db/statement.ts';
import { fail, invalidField } from '../../../shared/errors/errors.ts';
import { ifNewKey } from '../../../shared/rpc/idempotency/key.ts';
import { slotErrors } from '../errors.ts';
import { slotFieldColumns, slotFieldsEntry } from '../slots/slot.ts';
import { appendRefreshRequest, storeRequestIdColumn } from '../stores/requests.ts';
import type { PlannedCopy } from './copies.ts';

const maxNameLength = 128;

/** Converts a template for names into a format of PostgreSQL's `format(format, name, date)`. */
export const toNameFormat = (template: string) =>
  template.replaceAll('%', '%%').replaceAll('{name}', '%1$s').replaceAll('{date}', '%2$s');

const copiedName = `normalize(format($nameFormat, snippet_code, local_date))`;

/** The copies as parameters, one list for each of their fields, in order. */
interface CopyParams {
  readonly sourceIds: readonly number[];
  /** The local delivery dates. */
  readonly dates: readonly string[];
  readonly nameFormat: string | null;
}

function copyParams(copies: readonly PlannedCopy[], nameFormat: string | null): CopyParams {
  return {
    sourceIds: copies.map(({ source }) => source.id),
    dates: copies.map(({ delivery }) => delivery.localDate),
    nameFormat,
  };
}

/**
 * Applies the rules of snippets (spec 4.1 and 7) to those of the copies, in their order.
 *
 * Throws INVALID_ARGUMENT for a name of more than 128 characters and for products that do not exist, and ALREADY_EXISTS
 * for a name that is taken, even by an earlier one of the same call.
 */
export async function checkCopiedSnippets(
  db: Queryable,
  copies: readonly PlannedCopy[],
  nameFormat: string,
): Promise<void> {
  const [problem] = await db.query(firstProblem(copyParams(copies, nameFormat)));
  if (problem === undefined) return;
  const { name, isLong, hasUnknownProducts } = problem;
  if (isLong) throw invalidField('snippet_name', `makes a name of more than ${maxNameLength} characters: ${name}`);
  throw fail(hasUnknownProducts ? slotErrors.snippetProductsInvalid : slotErrors.snippetNameTaken, {
    params: { name },
  });
}

const firstProblem = statement<{ name: string; isLong: boolean; hasUnknownProducts: boolean }, CopyParams>(
  'copiedSnippetsProblem',
  `with copies as (
     select * from unnest($sourceIds::integer[], $dates::text[]) with ordinality as given (source_id, local_date, place)
   ),
   sources as materialized (
     select id, slot_id, snippet_code, product_ids from vendor_snippets where slot_id = any($sourceIds::integer[])
   ),
   unsound as (
     select distinct sources.id
     from sources, unnest(product_ids) as product_id left join products on products.id = product_id
     where products.id is null
   ),
   named as materialized (
     select place, sources.id, ${copiedName} as name, unsound.id is not null as has_unknown
     from copies join sources on slot_id = source_id left join unsound on unsound.id = sources.id
   ),
   judged as (
     select *, char_length(name) > ${maxNameLength} as is_long,
       row_number() over (partition by name order by place, id) > 1
         or exists (select from vendor_snippets where snippet_code = name) as is_taken
     from named
   )
   select name, is_long as "isLong", has_unknown as "hasUnknownProducts"
   from judged where is_long or has_unknown or is_taken
   order by place, id limit 1`,
);

/** A copy as it was stored. */
interface StoredCopy {
  id: number;
  etag: string;
  storeRequestId: string;
}

/** A statement stores copies with about so many products, groups and snippets: of more, it would take too long. */
const linksPerStatement = 100_000;

/**
 * Stores copies with their products and snippets, in a transaction. Resolves with them in the same order. Loses a race
 * if a source was changed after it was read, or the name of a snippet was taken at the last moment.
 */
export async function insertCopies(
  tx: Queryable,
  copies: readonly PlannedCopy[],
  nameFormat: string | null,
  actor: Actor,
): Promise<StoredCopy[]> {
  const stored: StoredCopy[] = [];
  for (const part of partsOf(copies)) {
    const ends = nameFormat === null ? [] : part.flatMap(endsOf);
    const rows = await tx.query(
      insertAll({
        ...actor,
        ...copyParams(part, nameFormat),
        seen: part.map(({ source }) => source.seen),
        deliveries: part.map(({ delivery }) => String(delivery.micros)),
        freezes: part.map(({ freeze }) => String(freeze.micros)),
        ends: JSON.stringify(Object.fromEntries(ends)),
      }),
    );
    stored.push(...rows);
  }
  return stored;
}

/** Splits copies into parts that a statement stores. A part has at least one copy. */
function partsOf(copies: readonly PlannedCopy[]): PlannedCopy[][] {
  const parts: PlannedCopy[][] = [];
  let left = 0;
  for (const copy of copies) {
    const { linkCount, listedIds, snippetCount } = copy.source;
    left -= 1 + linkCount + listedIds + snippetCount * linksPerSnippet;
    if (left < 0) {
      parts.push([]);
      left += linksPerStatement;
    }
    parts.at(-1)?.push(copy);
  }
  return parts;
}

/** Storing a snippet takes as long as this many products. */
const linksPerSnippet = 8;

/** The ends of a copy's snippets after the move, by the copy's place and the end before. */
function endsOf({ source, validTills }: PlannedCopy, index: number): [string, string][] {
  return validTills.map(({ micros }, at) => [`${index + 1} ${source.validTills[at]}`, String(micros)]);
}

interface NewCopies extends CopyParams, Actor {
  readonly seen: readonly string[];
  readonly deliveries: readonly string[];
  readonly freezes: readonly string[];
  /** A JSON object of times in microseconds. */
  readonly ends: string;
}

/** SQL of a list of ids as `idsEntryJson` writes it. */
const idsEntry = (ids: string, sorted: string) => `
  case when cardinality(${ids}) > 100 then json_build_object('added', ${sorted}, 'removed', '[]'::json) else to_json(${ids}) end`;

// As in createSlot, the associations that an id already has before the slot gets it are strays.
const insertAll = statement<StoredCopy, NewCopies>(
  'copySlots',
  `with copies as materialized (
     select place, slots.xmin::text = seen as is_as_seen, ${timeOf('delivery_micros')} as delivery_time,
       ${timeOf('freeze_micros')} as freeze_time, capacity, window_minutes, group_ids
     from unnest($sourceIds::integer[], $seen::text[], $deliveries::bigint[], $freezes::bigint[])
       with ordinality as given (source_id, seen, delivery_micros, freeze_micros, place)
       join slots on slots.id = source_id
   ),
   written as (
     insert into slots (${slotFieldColumns}, group_ids)
     select delivery_time, freeze_time, true, capacity, window_minutes, group_ids from copies
     where (
       select case when bool_and(is_as_seen) and count(*) = cardinality($sourceIds) then ${ifNewKey('true')}
         else refuse_lost_race() is null end
       from copies
     )
     order by place
     returning *
   ),
   -- The ids were given in the order of the places. Joining the sources by place would take a large plan too long.
   numbered as materialized (
     select *, ($sourceIds)[place] as source_id, ($dates::text[])[place] as local_date
     from (select *, (row_number() over (order by id))::integer as place from written) as written
   ),
   strays as (delete from product_slots using written where slot_id = written.id returning product_id),
   products as materialized (
     select slot_id, array_agg(product_id order by product_id) as product_ids
     from product_slots where slot_id = any($sourceIds::integer[]) group by slot_id
   ),
   associations as (
     insert into product_slots (slot_id, product_id)
     select numbered.id, product_id
     from (select count(*) from strays) as deleted, numbered join products on slot_id = source_id,
       unnest(product_ids) as product_id
     order by numbered.id, product_id
   ),
   renamed as materialized (
     select numbered.id as slot_id, ${copiedName} as snippet_code, product_ids, ${timeOf('moved')} as valid_till
     from numbered join vendor_snippets on slot_id = source_id, lateral (
       select ($ends::jsonb ->> concat(place, ' ', ${microsOf('valid_till')}))::bigint as moved offset 0
     ) as ends
     where $nameFormat::text is not null
   ),
   snippets as (
     insert into vendor_snippets (slot_id, snippet_code, product_ids, valid_till)
     select slot_id, snippet_code, product_ids, valid_till from renamed order by snippet_code collate "C"
     on conflict (snippet_code) do nothing
     returning 1
   ),
   group_entries as materialized (
     select id, ${idsEntry('group_ids', 'array(select unnest(group_ids) order by 1)')} as entry from slots
     where id = any($sourceIds::integer[])
   ),
   product_entries as materialized (
     select slot_id, ${idsEntry('product_ids', 'product_ids')} as entry from products
   ),
   snippet_entries as materialized (
     select slot_id, jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
       'snippetCode', snippet_code, 'productIds', product_ids, 'validTill', api_time(valid_till)
     )) order by snippet_code collate "C") as entry
     from renamed group by slot_id
   ),
   ${auditEntry(
     'slot',
     `select numbered.id, null::json as before, json_strip_nulls(json_build_object(
        ${slotFieldsEntry('numbered')}, 'groupIds', group_entries.entry, 'isCapacityFull', is_capacity_full,
        'deliverySequence', delivery_sequence, 'productIds', coalesce(product_entries.entry, '[]'),
        'vendorSnippets', coalesce(snippet_entries.entry, '[]')
      )) as after
      from numbered join group_entries on group_entries.id = source_id
        left join product_entries on product_entries.slot_id = source_id
        left join snippet_entries on snippet_entries.slot_id = numbered.id
      order by numbered.id`,
   )},
   ${appendRefreshRequest('id', 'written')}
   select id, etag, ${storeRequestIdColumn},
     case when (select count(*) from snippets) < (select count(*) from renamed) then refuse_lost_race() end as "lostRace"
   from numbered order by place`,
);
