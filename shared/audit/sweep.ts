import { statement } from '../db/statement.ts';

/** Deletes entries whose retention has passed, the oldest first (design 10). Returns how many. */
export const sweepEntries = statement<{ swept: number }, { most: number }>(
  'sweepEntries',
  `select sweep_audit_entries('infinity', $most::integer) as swept`,
);
