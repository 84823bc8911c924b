import { statement } from '../../../shared/db/statement.ts';

/**
 * Locks a slot for the transaction, so that the next statement sees all committed writes to it. The row lock
 * excludes other writers of an existing slot. The advisory lock is for a slot that does not exist, whose
 * products can still be written.
 */
export const lockSlot = statement<never, { slotId: number }>(
  'lockSlot',
  `with slot as materialized (select from slots where id = $slotId for no key update)
   select pg_advisory_xact_lock(hashtext(own_name('product_slots')), $slotId) from (select count(*) from slot) as locked`,
);
