import pg from 'pg';
import { loadBenchData } from './data-load.ts';

/** The slots of the measured database; their ids are 1 to `slotCount`. */
export const slotCount = 1_000;
export const productsPerSlot = 40;

/** Coupons, users and products as `loadBenchData` makes them, and slots with products, 50 with a sequence. */
export async function loadCallsData(databaseUrl: string, scale: number): Promise<void> {
  await loadBenchData(databaseUrl, scale);
  await withClient(databaseUrl, async (client) => {
    await client.query(`
      insert into slots (delivery_time, freeze_time, group_ids, delivery_sequence)
        select now() + n * interval '30 minutes' + interval '1 day', now() + n * interval '30 minutes' + interval '12 hours',
          case when n % 4 = 0 then array[n % 7 + 1, n % 5 + 10] else '{}' end,
          case when n <= 50
            then (select jsonb_object_agg(100 + u, (select jsonb_agg(n * 100 + u * 10 + i) from generate_series(1, 10) i))
                  from generate_series(1, 10) u)
            else '{}' end
        from generate_series(1, ${slotCount}) n;
      insert into product_slots
        select s, (s * 7 + p * 23) % 1000 + 1
        from generate_series(1, ${slotCount}) s, generate_series(1, ${productsPerSlot}) p;
      insert into vendor_snippets (slot_id, snippet_code, product_ids)
        select s, 'vendor-' || s || '-' || v, array[v, v + 10, v + 20]
        from generate_series(1, ${slotCount}) s, generate_series(1, 2) v;
    `);
    await client.query('vacuum analyze');
  });
}

/** A code of a coupon for everyone. */
export function findCouponCode(databaseUrl: string): Promise<string> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ code: string }>(
      `select coupon_code as code from coupons where is_apply_for_all order by id limit 1`,
    );
    return rows[0]?.code ?? '';
  });
}

/** Deletes what the measured writes stored, so that each round starts from the same tables. */
export async function removeWritten(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await client.query(`
      delete from vendor_snippets where slot_id > ${slotCount};
      delete from product_slots where slot_id > ${slotCount};
      delete from slots where id > ${slotCount};
      delete from store_refresh_requests;
      delete from coupons where discount_percent = 12.5;
    `);
    for (const table of ['vendor_snippets', 'product_slots', 'slots', 'store_refresh_requests', 'coupons'])
      await client.query(`vacuum ${table}`);
  });
}

async function withClient<Result>(databaseUrl: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
