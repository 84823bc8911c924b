import { runSql } from './client.ts';

/** How many products each slot has. */
export const productsPerSlot = 20;

/**
 * Adds active slots to a migrated database, one a minute from tomorrow on, each with 20 of the first 5,000 products, two snippets,
 * and a delivery sequence of ten users. Adds the products that are missing.
 */
export async function loadSlots(databaseUrl: string, count: number): Promise<void> {
  await runSql(
    databaseUrl,
    `
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
      commit`,
    'vacuum analyze',
  );
}

/** Products and groups that many slots have: spread over all slots, or with the last tenth of them only. */
export const spread = { everyTenth: 5_001, lastTenth: 5_002, everyHundredth: 5_003, all: 5_004 } as const;

/** Gives the slots the products and the groups of `spread`, each with the same number. */
export async function spreadSlots(databaseUrl: string): Promise<void> {
  await runSql(
    databaseUrl,
    `
      create table spread as
        select id, array_remove(array[
          case when n % 10 = 0 then ${spread.everyTenth} end, case when n > 0.9 * count(*) over () then ${spread.lastTenth} end,
          case when n % 100 = 0 then ${spread.everyHundredth} end, ${spread.all}
        ], null) as numbers
        from (select id, row_number() over (order by id) as n from slots) as numbered;
      insert into products (id, name) select n, 'Product ' || n from generate_series(5001, 5004) n on conflict do nothing;
      insert into product_slots (slot_id, product_id) select id, unnest(numbers) from spread on conflict do nothing;
      update slots set group_ids = numbers from spread where slots.id = spread.id;
      drop table spread`,
    'vacuum analyze',
  );
}
