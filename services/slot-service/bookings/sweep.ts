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

// The trigger writes the row of `slot_usage`. To wait for one would delay the holds of all other slots.
const markBookings = markStatement<{ swept: number; hasRequests: boolean }>(
  bookingKind,
  'join slot_usage using (slot_id)',
  {
    sql: `,
   ${appendRefreshRequest(
     'slots.id',
     `${filledSlots} and coalesce(slots.capacity > ${unitsInUse('slots.id')}, true)`,
   )}`,
    columns: ', exists (select from request) as "hasRequests"',
  },
);
