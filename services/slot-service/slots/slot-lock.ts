import { statement } from '../../../shared/db/statement.ts';

/**
 * Locks a slot for a transaction, in which the next statement then sees all that others have written of it. The row's lock keeps
 * out those who change a slot that exists; the other one is for a slot that does not, whose products can be written all the same.
 */
export const lockSlot = statement<never, { slotId: number }>(
  'lockSlot',
  `with slot as materialized (select from slots where id = $slotId for no key update)
   select pg_advisory_xact_lock(hashtext('product_slots'), $slotId) from (select count(*) from slot) as locked`,
);
