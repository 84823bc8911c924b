import type { TestDatabase } from './database.ts';

/** Every row of every table, with the transaction that wrote it; but of the stores, which a refresh may write meanwhile. */
export async function everyRow({ sql }: TestDatabase): Promise<Readonly<Record<string, unknown>>> {
  const tables = await sql<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
       and relname not in ('stored_slots', 'store_versions', 'store_refresh_requests') order by 1`,
  );
  const rows = tables.map(({ name }) => sql(`select t.ctid, t.xmin, t::text as row from ${name} as t order by t.ctid`));
  return Object.fromEntries((await Promise.all(rows)).map((found, n) => [tables[n]?.name, found]));
}
