import type { Database } from '../db/database.ts';
import { type BoundStatement, statement } from '../db/statement.ts';
import type { Metrics } from '../telemetry/metrics.ts';

const tableSizes = statement<{ name: string; value: number }>(
  'tableSizes',
  `select relname as name, pg_total_relation_size(oid)::float8 as value
   from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace`,
);

// Those that begin again at their end never run out.
const usedIds = statement<{ name: string; value: number }>(
  'usedIds',
  `select sequencename as name, coalesce(last_value, 0)::float8 / max_value as value
   from pg_sequences where schemaname = current_schema() and not cycle`,
);

/**
 * Registers what the tables take, which PostgreSQL reads from its file system, and how many of their ids are used up.
 */
export function registerStorageMetrics(metrics: Metrics, database: Database): void {
  const reading = (label: string, select: () => BoundStatement<{ name: string; value: number }>) => async () => {
    const rows = await database.measure(select());
    return rows.map(({ name, value }) => ({ labels: { [label]: name }, value }));
  };
  const bytes = reading('table', tableSizes);
  metrics.gauge('table_bytes', 'What a table takes on the disk, with its indexes and long values.', bytes, ['table']);
  const used = reading('sequence', usedIds);
  metrics.gauge('sequence_used_ratio', 'The share of the ids of a sequence that are used up.', used, ['sequence']);
}
