import pg from 'pg';

/** How many products each slot has. */
export const productsPerSlot = 20;

/**
 * Adds active slots to a migrated database, one a minute from tomorrow on, each with 20 of the first 5,000 products, two snippets,
 * and a delivery sequence of ten users. Adds the products that are missing.
 */
export async function loadSlots(databaseUrl: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`
      begin;
      insert into products (name) select 'Product ' || n
        from (select count(*) as present from products) as counted, generate_series(present + 1, 5000) n;
      create temporary table added on commit drop as
        with added as (
          insert into slots (delivery_time, freeze_time, delivery_sequence)
          select now() + n * interval '1 minute' + interval '1 day', now() + n * interval '1 minute' + interval '12 hours',
            (select jsonb_object_agg(u, jsonb_build_array(n, n + u)) from generate_series(1, 10) u)
          from generate_series(1, ${count}) n
          returning id
        )
        select id from added;
      insert into product_slots (slot_id, product_id)
        select id, (id::bigint * 7 + p * 251) % 5000 + 1 from added, generate_series(1, ${productsPerSlot}) p;
      insert into vendor_snippets (slot_id, snippet_code, product_ids)
        select id, 'vendor-' || id || '-' || v, array[v, v + 10, v + 20] from added, generate_series(1, 2) v;
      insert into store_refresh_requests default values;
      commit`);
    for (const table of ['products', 'slots', 'product_slots', 'vendor_snippets'])
      await client.query(`vacuum analyze ${table}`);
  } finally {
    await client.end();
  }
}
