import { statement } from '../db/statement.ts';

/** Deletes entries whose retention has passed, oldest first (design 10). Returns the number of deleted entries. */
export const sweepEntries = statement<{ swept: number }, { most: number }>(
  'sweepEntries',
  `select sweep_audit_entries('infinity', $most::integer) as swept`,
);
