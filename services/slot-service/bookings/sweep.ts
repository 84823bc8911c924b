import { markStatement } from '../../../shared/holds/sweep.ts';
import { type Sweep, sweepBy } from '../../../shared/runtime/sweeps.ts';
import { takenUnits } from '../slots/capacity.ts';
import { filledSlots } from '../stores/content.ts';
import { appendRefreshRequest } from '../stores/requests.ts';
import { bookingKind } from './booking.ts';

/**
 * Returns the sweep of holds that have run out (design 15). It also requests a refresh for each slot that the stores
 * leave out because it was full, and that has room now: no call told when a hold ran out.
 */
export const sweepBookings = (requestRefresh: () => void): Sweep =>
  sweepBy(markBookings, ({ hasRequests }) => {
    if (hasRequests) requestRefresh();
  });

// A slot whose units another statement counts is left for later, because holds of other slots would wait for it, too.
const markBookings = markStatement<{ swept: number; hasRequests: boolean }>(bookingKind, {
  sql: `counts as (
     select slot_id from slot_usage where slot_id in (select slot_id from oldest)
     order by slot_id for no key update skip locked
   ),
   free as (select id from oldest join counts using (slot_id)),
   ${appendRefreshRequest(
     'slots.id',
     `stored_slots join slots on slots.id = slot_id
     where ${filledSlots} and not slots.is_capacity_full and coalesce(${takenUnits('slots.id')} < slots.capacity, true)`,
   )}`,
  columns: ', exists (select from request) as "hasRequests"',
});
