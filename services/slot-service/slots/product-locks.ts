import { statement } from '../../../shared/db/statement.ts';

/**
 * Keeps two replacements of one slot's products from mixing. It goes before the statement that
 * replaces them, which sees what was committed before it began. The lock is on the slot's id and not
 * on its row, because the slot does not have to exist.
 */
export const lockSlotProducts = statement<never, { slotId: number }>(
  'lockSlotProducts',
  `select pg_advisory_xact_lock(hashtext('product_slots'), $slotId)`,
);
