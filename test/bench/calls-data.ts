import { writtenPercent } from './calls-requests.ts';
import type { Services } from './calls-sides.ts';
import { runSql, withClient } from './client.ts';
import { firstOrderKey, firstPastSlot } from './data-history.ts';
import { loadBenchData } from './data-load.ts';
import { tableHead, tableRow } from './program.ts';

/** The slots of the measured database; their ids are 1 to `slotCount`. */
export const slotCount = 1_000;
export const productsPerSlot = 40;
const arraySequenceSlot = 51;

/** Coupons, users and products as `loadBenchData` makes them, and slots with products, 50 with a sequence. */
export async function loadCallsData(databaseUrl: string, scale: number): Promise<void> {
  await loadBenchData(databaseUrl, scale);
  await runSql(
    databaseUrl,
    `
      insert into slots (delivery_time, freeze_time, group_ids, delivery_sequence)
        select now() + n * interval '30 minutes' + interval '1 day', now() + n * interval '30 minutes' + interval '12 hours',
          case when n % 4 = 0 then array[n % 7 + 1, n % 5 + 10] else '{}' end,
          case when n <= 50
            then (select jsonb_object_agg(100 + u, (select jsonb_agg(n * 100 + u * 10 + i) from generate_series(1, 10) i))
                  from generate_series(1, 10) u)
            else '{}' end
        from generate_series(1, ${slotCount}) n;
      update slots set delivery_sequence = '[1, 2, 3]' where id = ${arraySequenceSlot};
      insert into product_slots
        select s, (s * 7 + p * 23) % 1000 + 1
        from generate_series(1, ${slotCount}) s, generate_series(1, ${productsPerSlot}) p;
      insert into vendor_snippets (slot_id, snippet_code, product_ids)
        select s, 'vendor-' || s || '-' || v, array[v, v + 10, v + 20]
        from generate_series(1, ${slotCount}) s, generate_series(1, 2) v;
    `,
    'vacuum analyze',
  );
}

/** What the measured reads ask for. */
export type Samples = Pick<Services, 'couponCodes' | 'couponId' | 'rareTerm' | 'commonTerm' | 'arraySequenceSlot'>;

export function findSamples(databaseUrl: string): Promise<Samples> {
  return withClient(databaseUrl, async (client) => {
    const { rows: valid } = await client.query<{ code: string }>(
      `select coupon_code as code from coupons where is_apply_for_all order by id limit 64`,
    );
    const { rows: related } = await client.query<{ id: number }>(
      'select id from coupons where is_user_based and id >= (select avg(id) from coupons) order by id limit 1',
    );
    const { rows: rare } = await client.query<{ term: string }>(
      `select substr(coupon_code, 1, 5) as term from coupons group by 1 having count(*) > 1 order by count(*), 1 limit 1`,
    );
    const [[coupon], [few]] = [related, rare];
    if (coupon === undefined || few === undefined || valid.length < 64)
      throw new Error('there are too few coupons to ask for');
    return {
      couponCodes: valid.map(({ code }) => code),
      couponId: coupon.id,
      rareTerm: few.term,
      commonTerm: 'SAVE',
      arraySequenceSlot,
    };
  });
}

/** Lets each of the slots be booked. */
export const openBookings = (databaseUrl: string) =>
  runSql(databaseUrl, `update slots set capacity = 1000000 where id <= ${slotCount}`);

const writtenSlot = (id: string) => `${id} > ${slotCount} and ${id} < ${firstPastSlot}`;
const writtenOrder = `order_key < '${firstOrderKey}'`;

/** Which rows the measured writes stored. */
const written = {
  vendor_snippets: writtenSlot('slot_id'),
  product_slots: writtenSlot('slot_id'),
  slots: writtenSlot('id'),
  stored_slots: writtenSlot('slot_id'),
  store_refresh_requests: 'true',
  idempotency_keys: 'true',
  redemptions: writtenOrder,
  slot_bookings: writtenOrder,
  coupons: `discount_percent = ${writtenPercent}`,
};

/**
 * Deletes what the measured writes stored, so that each round starts from the same tables; but for audit entries, which
 * nobody can delete. An older schema lacks some of the tables.
 */
export async function removeWritten(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    for (const [table, condition] of Object.entries(written)) {
      const { rows } = await client.query('select where to_regclass($1) is not null', [table]);
      if (rows.length === 0) continue;
      await client.query(`delete from ${table} where ${condition}`);
      await client.query(`vacuum ${table}`);
    }
  });
}

/** How large the tables are that have more than a megabyte: in Markdown, the largest first. */
export async function readSizes(databaseUrl: string): Promise<string> {
  const { rows } = await withClient(databaseUrl, (client) =>
    client.query<{ name: string; rows: string; table: number; indexes: number }>(
      `select relname as name, (pg_table_size(oid) / 1e6)::float8 as table, (pg_indexes_size(oid) / 1e6)::float8 as indexes,
         (xpath('/row/count/text()', query_to_xml(format('select count(*) from %I', relname), false, true, '')))[1]::text as rows
       from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_total_relation_size(oid) > 1e6
       order by pg_total_relation_size(oid) desc`,
    ),
  );
  const cells = rows.map(({ name, rows: count, table, indexes }) => [
    name,
    count,
    table.toFixed(0),
    indexes.toFixed(0),
  ]);
  return [tableHead(['table', 'rows', 'MB', 'MB of indexes']), ...cells.map(tableRow)].join('\n');
}
