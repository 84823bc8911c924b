import { type Queryable, statement } from '../../shared/db/database.ts';
import { fail } from '../../shared/errors/errors.ts';
import { slotErrors } from './errors.ts';
import { type SlotRow, slotColumns } from './slots.ts';
import { requestForEach, storeRequestId } from './stores/requests.ts';

const updateSlotCapacityRow = statement<SlotRow & { storeRequestId: string }>(
  'updateSlotCapacity',
  `with slots as (update slots set is_capacity_full = $2 where id = $1 returning *),
   ${requestForEach('slots')}
   select ${slotColumns}, ${storeRequestId} from slots`,
);

/** Spec 4.1, updateSlotCapacity. Throws NOT_FOUND. */
export async function updateSlotCapacity(
  db: Queryable,
  input: { slotId: number; isCapacityFull: boolean },
): Promise<{ slot: SlotRow; storeRequestId: string }> {
  const [slot] = await db.query(updateSlotCapacityRow, [input.slotId, input.isCapacityFull]);
  if (slot === undefined) throw fail(slotErrors.slotNotFound);
  return { slot, storeRequestId: slot.storeRequestId };
}
