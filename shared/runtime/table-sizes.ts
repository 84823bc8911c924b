import type { Database } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { type Metrics, oneAtATime } from '../telemetry/metrics.ts';

const readMs = 1_000;

const tableSizes = statement<{ table: string; bytes: number }>(
  'tableSizes',
  `select relname as table, pg_total_relation_size(oid)::float8 as bytes
   from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
);

/** Registers the sizes of the tables, which PostgreSQL reads from its file system. */
export function registerTableSizes(metrics: Metrics, database: Database): void {
  const read = oneAtATime(async () => {
    // A scrape must not delay calls further.
    if (database.waiting > 0) throw new Error('calls wait for the database');
    const sizes = await database.for({ signal: AbortSignal.timeout(readMs) }).query(tableSizes());
    return sizes.map(({ table, bytes }) => ({ labels: { table }, value: bytes }));
  });
  const help = 'What a table takes on the disk, with its indexes and long values.';
  metrics.gauge({ name: 'table_bytes', help, labels: ['table'] }, read);
}
