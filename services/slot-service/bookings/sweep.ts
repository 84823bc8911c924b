import { markStatement } from '../../../shared/holds/sweep.ts';
import { type Sweep, sweepBy } from '../../../shared/runtime/sweeps.ts';
import { unitsInUse } from '../slots/capacity.ts';
import { filledSlots } from '../stores/content.ts';
import { appendRefreshRequest } from '../stores/requests.ts';
import { bookingKind } from './booking.ts';

/**
 * Returns the sweep of holds that have run out (design 15). It also requests a refresh for each slot that the stores
 * leave out as full, and that has room again: no call tells when a hold runs out.
 */
export const sweepBookings = (requestRefresh: () => void): Sweep =>
  sweepBy(markBookings, ({ hasRequests }) => {
    if (hasRequests) requestRefresh();
  });

// Skips slots whose row of `slot_usage` is locked: to wait for one would delay the holds of all others.
const markBookings = markStatement<{ swept: number; hasRequests: boolean }>(bookingKind, {
  sql: `,
   counts as (
     select slot_id from slot_usage where slot_id in (select slot_id from oldest)
     order by slot_id for no key update skip locked
   ),
   free as (select id from oldest join counts using (slot_id)),
   ${appendRefreshRequest(
     'slots.id',
     `${filledSlots} and coalesce(slots.capacity > ${unitsInUse('slots.id')}, true)`,
   )}`,
  columns: ', exists (select from request) as "hasRequests"',
});
