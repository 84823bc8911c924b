import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { onlyRow, statement } from '../db/statement.ts';

const readRetention = statement<{ days: number | null; mayWrite: boolean }>(
  'readRetention',
  `select days, has_table_privilege('audit_retention', 'update') as "mayWrite" from audit_retention`,
);

/**
 * Sets the retention of audit entries in days; null keeps them for ever. Only the schema's owner
 * may do so (migration 0016).
 */
const writeRetention = statement<never, { days: number | null }>(
  'writeRetention',
  'update audit_retention set days = $days where days is distinct from $days',
);

/**
 * Applies a service's retention to the database. Logs a warning if it differs and the service
 * lacks the right to change it.
 */
export async function applyRetention(database: Database, asked: number | undefined, logger: Logger): Promise<void> {
  const db = database.for({ signal: AbortSignal.timeout(10_000) });
  const { days, mayWrite } = onlyRow(await db.query(readRetention()));
  const wanted = asked ?? null;
  if (days === wanted) return;
  if (mayWrite) await db.query(writeRetention({ days: wanted }));
  else
    logger.warn(
      { days, AUDIT_RETENTION_DAYS: wanted },
      'the retention of audit entries is the one that the migration was given',
    );
}

/** Deletes entries whose retention has passed, oldest first (design 10). Returns the number of deleted entries. */
export const sweepEntries = statement<{ swept: number }, { most: number }>(
  'sweepEntries',
  `select sweep_audit_entries('infinity', $most::integer) as swept`,
);
