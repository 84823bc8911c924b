import { statement } from '../../../shared/db/statement.ts';

/**
 * Keeps two changes of one slot's products or snippets from mixing. It goes before the statement that
 * changes them, which sees what was committed before it began. The lock is on the slot's id and not
 * on its row, because the slot does not have to exist.
 */
export const lockSlotLists = statement<never, { slotId: number }>(
  'lockSlotLists',
  `select pg_advisory_xact_lock(hashtext('product_slots'), $slotId)`,
);
