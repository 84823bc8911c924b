import { fail } from '../../../shared/errors/errors.ts';
import { requiredDate } from '../../../shared/rpc/dates.ts';
import { slotErrors } from '../errors.ts';

/** Reads the times of createSlot and updateSlot. Throws INVALID_ARGUMENT when one is empty or no date (spec 7). */
export function readTimes({ deliveryTime, freezeTime }: { deliveryTime: string; freezeTime: string }) {
  if (deliveryTime === '' || freezeTime === '') {
    const field = deliveryTime === '' ? 'delivery_time' : 'freeze_time';
    throw fail(slotErrors.timesRequired, { violations: [{ field, description: 'is required' }] });
  }
  return {
    deliveryTime: requiredDate('delivery_time', deliveryTime),
    freezeTime: requiredDate('freeze_time', freezeTime),
  };
}
