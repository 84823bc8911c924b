import { statement } from '../db/statement.ts';

/** Deletes entries that are older than their time, the oldest first (design 10). Returns how many. */
export const sweepEntries = statement<{ swept: number }, { days: number; most: number }>(
  'sweepEntries',
  `select sweep_audit_entries(now() - $days::integer * interval '1 day', $most::integer) as swept`,
);
