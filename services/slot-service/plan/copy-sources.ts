import { databaseErrors } from '../../../shared/db/errors.ts';
import { microsOf, timeOf } from '../../../shared/db/micros.ts';
import { statement } from '../../../shared/db/statement.ts';
import type { Queryable } from '../../../shared/db/transaction.ts';
import { fail, invalidField } from '../../../shared/errors/errors.ts';
import { slotErrors } from '../errors.ts';

export const maxCopies = 1_000;
// What the copies of one call have together.
const maxProducts = 1_000_000;
const maxGroups = 1_000_000;
const maxSnippets = 100_000;
// The bytes of that many ids, with the headers of their arrays.
const maxGroupBytes = 4 * maxGroups + 24 * maxCopies;
const maxSnippetBytes = 4 * maxProducts + 24 * maxSnippets;

/** A slot to copy. Times are microseconds since the epoch. */
export interface CopySource {
  readonly id: number;
  /** Names the version of the row: it changes with each change of the slot, its products or its snippets. */
  readonly seen: string;
  readonly delivery: bigint;
  readonly freeze: bigint;
  readonly groupIds: readonly number[];
  readonly snippetCount: number;
  /** How many products and groups a copy of it has, those of copied snippets included. */
  readonly linkCount: number;
  /** When its snippets end, each time once; empty unless snippets are copied. */
  readonly validTills: readonly bigint[];
}

/** Which slots are copied, how often, and whether with their snippets. */
export interface AskedSources {
  /** A set of slots, or the active slots of a half-open interval in epoch milliseconds. */
  readonly from: readonly number[] | { readonly from: number; readonly until: number };
  readonly repeat: number;
  readonly copiesSnippets: boolean;
}

/**
 * Reads the slots to copy, by delivery time, then id.
 *
 * Throws NOT_FOUND for slots that do not exist, and INVALID_ARGUMENT for copies that are too many or too large together
 * (design 12). FAILED_PRECONDITION for a slot from before migration 0015 whose time no answer can show.
 */
export async function readSources(db: Queryable, asked: AskedSources): Promise<CopySource[]> {
  const { from, repeat, copiesSnippets } = asked;
  const rows =
    'until' in from
      ? await db.query(
          sourcesOfInterval({ fromMicros: `${from.from}000`, untilMicros: `${from.until}000`, copiesSnippets }),
        )
      : await db.query(sourcesById({ slotIds: from, copiesSnippets }));
  const field = 'until' in from ? 'delivery_until' : 'slot_ids';
  if (!('until' in from)) requireAll(from, rows);
  requireBound(field, rows.length * repeat, maxCopies, 'copies');
  const sumOf = (count: (row: SourceRow) => number) => repeat * rows.reduce((sum, row) => sum + count(row), 0);
  requireBound(
    field,
    sumOf(({ products, snippetProducts }) => products + snippetProducts),
    maxProducts,
    'products',
  );
  requireBound(
    field,
    sumOf(({ groupIds }) => groupIds?.length ?? maxGroups + 1),
    maxGroups,
    'groups',
  );
  if (copiesSnippets)
    requireBound(
      field,
      sumOf(({ snippets }) => snippets),
      maxSnippets,
      'snippets',
    );
  return rows.map(toSource);
}

function requireAll(slotIds: readonly number[], rows: readonly SourceRow[]): void {
  const found = new Set(rows.map(({ id }) => id));
  const missing = slotIds.filter((id) => !found.has(id));
  if (missing.length > 0) throw fail(slotErrors.slotNotFound, { metadata: { slotIds: missing.join() } });
}

function requireBound(field: string, count: number, most: number, what: string): void {
  if (count > most) throw invalidField(field, `makes more than ${most.toLocaleString('en')} ${what}`);
}

function toSource({ id, seen, delivery, freeze, snippets, validTills, ...row }: SourceRow): CopySource {
  const groupIds = row.groupIds ?? [];
  const times = [delivery, freeze, ...validTills];
  if (times.some((micros) => !isShown(micros))) throw fail(databaseErrors.unsound);
  return {
    ...{ id, seen, groupIds, snippetCount: snippets },
    linkCount: row.products + row.snippetProducts + groupIds.length,
    ...{ delivery: BigInt(delivery), freeze: BigInt(freeze), validTills: validTills.map(BigInt) },
  };
}

const firstMs = Date.parse('0001-01-01T00:00:00Z');
const endMs = Date.parse('+010000-01-01T00:00:00Z');

/** Whether a time in microseconds is in the years 1 to 9999, as all stored times are (migration 0015). */
export function isShown(micros: bigint | string): boolean {
  const ms = Number(BigInt(micros)) / 1_000;
  return ms >= firstMs && ms < endMs;
}

interface SourceRow {
  id: number;
  seen: string;
  delivery: string;
  freeze: string;
  /** Null: all slots together have too many. */
  groupIds: number[] | null;
  products: number;
  snippets: number;
  /** More than `maxProducts` if they were not counted. */
  snippetProducts: number;
  validTills: string[];
}

/** Products and snippets are counted slot by slot, up to a limit. The size of an array is known without reading it. */
const selectSources = (condition: string) => `
  with sources as materialized (
    select id, xmin, delivery_time, freeze_time, group_ids from slots where ${condition}
    order by delivery_time, id limit ${maxCopies + 1}
  ),
  associated as (
    select id, count(*)::integer as products
    from (
      select id from sources, lateral (select from product_slots where slot_id = sources.id offset 0) as products
      limit ${maxProducts + 1}
    ) as products
    group by id
  ),
  sized as materialized (
    select *, sum(pg_column_size(product_ids)) over () > ${maxSnippetBytes} as are_too_large
    from (
      select sources.id, product_ids, valid_till
      from sources, lateral (select * from vendor_snippets where slot_id = sources.id offset 0) as snippets
      limit ${maxSnippets + 1}
    ) as snippets
  ),
  named as (
    select id, count(*)::integer as snippets,
      sum(
        case when are_too_large then ${maxProducts + 1} when $copiesSnippets::boolean then cardinality(product_ids) else 0 end
      )::float8 as snippet_products,
      json_agg(distinct ${microsOf('valid_till')}::text) filter (where $copiesSnippets and valid_till is not null) as valid_tills
    from sized group by id
  )
  select id, xmin::text as seen, ${microsOf('delivery_time')} as delivery, ${microsOf('freeze_time')} as freeze,
    case when (select sum(pg_column_size(group_ids)) from sources) <= ${maxGroupBytes} then to_json(group_ids) end as "groupIds",
    coalesce(products, 0) as products, coalesce(snippets, 0) as snippets,
    coalesce(snippet_products, 0) as "snippetProducts", coalesce(valid_tills, '[]') as "validTills"
  from sources left join associated using (id) left join named using (id)
  order by delivery_time, id`;

const sourcesById = statement<SourceRow, { slotIds: readonly number[]; copiesSnippets: boolean }>(
  'copySourcesById',
  selectSources('id = any((select $slotIds::integer[])::integer[])'),
);

const sourcesOfInterval = statement<SourceRow, { fromMicros: string; untilMicros: string; copiesSnippets: boolean }>(
  'copySourcesOfInterval',
  selectSources(
    `is_active and delivery_time >= (select ${timeOf('$fromMicros')}) and delivery_time < (select ${timeOf('$untilMicros')})`,
  ),
);
