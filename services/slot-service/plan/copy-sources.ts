import { databaseErrors } from '../../../shared/db/errors.ts';
import { microsOf, timeOf } from '../../../shared/db/micros.ts';
import { type Queryable, statement } from '../../../shared/db/statement.ts';
import { fail, invalidField } from '../../../shared/errors/errors.ts';
import { slotErrors } from '../errors.ts';

const maxCopies = 1_000;
// What the copies of one call have together.
const maxProducts = 300_000;
const maxGroups = 200_000;
const maxSnippets = 20_000;
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
  /** How many products a copy of it has. */
  readonly linkCount: number;
  /** How many ids its lists have: of its groups, and of the products of copied snippets. */
  readonly listedIds: number;
  readonly capacity: number | null;
  readonly windowMinutes: number | null;
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
 * Reads the slots to copy, by delivery time, then id. With `locks`, nobody else changes them until the transaction
 * ends.
 *
 * Throws NOT_FOUND for slots that do not exist, and INVALID_ARGUMENT for copies that are too many or too large together
 * (design 12). FAILED_PRECONDITION for a slot from before migration 0015 whose time no answer can show.
 */
export async function readSources(
  db: Queryable,
  { from, repeat, copiesSnippets }: AskedSources,
  { locks }: { readonly locks: boolean },
): Promise<CopySource[]> {
  const kind = 'until' in from ? 'interval' : 'ids';
  const params = {
    copiesSnippets,
    ...('until' in from
      ? { slotIds: [], fromMicros: `${from.from}000`, untilMicros: `${from.until}000` }
      : { slotIds: from, fromMicros: '0', untilMicros: '0' }),
  };
  const rows = await db.pipeline(locks ? [lockSources[kind](params)] : [], selectSources[kind](params));
  const field = 'until' in from ? 'delivery_until' : 'slot_ids';
  if (!('until' in from)) requireAll(from, rows);
  const bound = (what: string, most: number, countOf: (row: SourceRow) => number) => {
    const count = repeat * rows.reduce((sum, row) => sum + countOf(row), 0);
    if (count > most) throw invalidField(field, `makes more than ${most.toLocaleString('en')} ${what}`);
  };
  bound('copies', maxCopies, () => 1);
  bound('products', maxProducts, ({ products, snippetProducts }) => products + snippetProducts);
  bound('groups', maxGroups, ({ groupIds }) => groupIds?.length ?? maxGroups + 1);
  bound('snippets', maxSnippets, ({ snippets }) => (copiesSnippets ? snippets : 0));
  return rows.map(toSource);
}

function requireAll(slotIds: readonly number[], rows: readonly SourceRow[]): void {
  const found = new Set(rows.map(({ id }) => id));
  const missing = slotIds.filter((id) => !found.has(id));
  if (missing.length > 0) throw fail(slotErrors.slotNotFound, { metadata: { slotIds: missing.join() } });
}

function toSource({
  id,
  seen,
  delivery,
  freeze,
  snippets,
  validTills,
  capacity,
  windowMinutes,
  ...row
}: SourceRow): CopySource {
  const groupIds = row.groupIds ?? [];
  if (!groupIds.every(Number.isInteger)) throw fail(databaseErrors.unsound);
  const ends = validTills.map(BigInt);
  const times = { delivery: BigInt(delivery), freeze: BigInt(freeze) };
  if (![times.delivery, times.freeze, ...ends].every(isShown)) throw fail(databaseErrors.unsound);
  return {
    ...{ id, seen, groupIds, snippetCount: snippets, capacity, windowMinutes },
    ...{ linkCount: row.products, listedIds: row.snippetProducts + groupIds.length },
    ...{ ...times, validTills: ends },
  };
}

const microsOfYear = (year: string) => BigInt(Date.parse(`${year}-01-01T00:00:00Z`)) * 1_000n;
const [firstMicros, endMicros] = [microsOfYear('0001'), microsOfYear('+010000')];

/** Whether a time in microseconds is in the years 1 to 9999, as all stored times are (migration 0015). */
export function isShown(micros: bigint): boolean {
  return micros >= firstMicros && micros < endMicros;
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
  capacity: number | null;
  windowMinutes: number | null;
  /** More than `maxProducts` if they were not counted. */
  snippetProducts: number;
  validTills: string[];
}

interface SourceParams {
  readonly slotIds: readonly number[];
  readonly fromMicros: string;
  readonly untilMicros: string;
  readonly copiesSnippets: boolean;
}

/** SQL of which slots are copied. */
const conditions = {
  ids: 'id = any($slotIds::integer[])',
  interval: `is_active and delivery_time >= ${timeOf('$fromMicros')} and delivery_time < ${timeOf('$untilMicros')}`,
};

// In the order of ids, which prevents deadlocks. The version of a row stays the same.
const lockOf = (kind: keyof typeof conditions) =>
  statement<never, SourceParams>(
    `lockCopySources-${kind}`,
    `select from slots where ${conditions[kind]} order by id limit ${maxCopies + 1} for share`,
  );
const lockSources = { ids: lockOf('ids'), interval: lockOf('interval') };

/** Products and snippets are counted slot by slot, up to a limit. The size of an array is known without reading it. */
const selectOf = (kind: keyof typeof conditions) =>
  statement<SourceRow, SourceParams>(
    `copySources-${kind}`,
    `with sources as materialized (
       select id, xmin, delivery_time, freeze_time, group_ids, capacity, window_minutes from slots where ${conditions[kind]}
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
     counted as (
       select sources.id, count(*)::integer as snippets
       from sources join vendor_snippets on slot_id = sources.id group by sources.id
     ),
     sized as materialized (
       select *, sum(pg_column_size(product_ids)) over () > ${maxSnippetBytes} as are_too_large
       from (
         select sources.id, product_ids, valid_till
         from sources, lateral (select * from vendor_snippets where slot_id = sources.id offset 0) as snippets
         where $copiesSnippets::boolean
         limit ${maxSnippets + 1}
       ) as snippets
     ),
     copied as (
       select id,
         sum(case when are_too_large then ${maxProducts + 1} else cardinality(product_ids) end)::float8 as products,
         json_agg(distinct ${microsOf('valid_till')}::text) filter (where valid_till is not null) as valid_tills
       from sized group by id
     )
     select id, xmin::text as seen, ${microsOf('delivery_time')} as delivery, ${microsOf('freeze_time')} as freeze,
       case when (select sum(pg_column_size(group_ids)) from sources) <= ${maxGroupBytes} then to_json(group_ids) end as "groupIds",
       capacity, window_minutes as "windowMinutes",
       coalesce(associated.products, 0) as products, coalesce(snippets, 0) as snippets,
       coalesce(copied.products, 0) as "snippetProducts", coalesce(valid_tills, '[]') as "validTills"
     from sources left join associated using (id) left join counted using (id) left join copied using (id)
     order by delivery_time, id`,
  );
const selectSources = { ids: selectOf('ids'), interval: selectOf('interval') };
