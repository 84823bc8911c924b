import type pg from 'pg';

/**
 * Fills tables while those of their indexes are gone that a condition on `pg_index` and `pg_am` chooses. Built at the end, they take
 * a fraction of the time.
 */
export async function withoutIndexes(
  client: pg.Client,
  condition: string,
  fill: () => Promise<unknown>,
): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
     from pg_index join pg_class on pg_class.oid = indexrelid join pg_am on pg_am.oid = relam
     where ${condition}`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  await fill();
  for (const { definition } of rows) await client.query(definition);
}

/** All indexes of some tables but those of primary keys. */
export const searchesOf = (...tables: readonly string[]) =>
  `not indisprimary and indrelid in (${tables.map((table) => `'${table}'::regclass`).join()})`;
