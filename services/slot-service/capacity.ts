import { type Queryable, statement } from '../../shared/db/database.ts';
import { fail } from '../../shared/rpc/errors.ts';
import { slotErrors } from './errors.ts';
import { type SlotRow, slotColumns } from './slots.ts';
import { requestStoreRefresh } from './stores/requests.ts';

const updateSlotCapacityRow = statement<SlotRow>(
  'updateSlotCapacity',
  `update slots set is_capacity_full = $2 where id = $1 returning ${slotColumns}`,
);

/** Spec 4.1, updateSlotCapacity. Throws NOT_FOUND. */
export async function updateSlotCapacity(
  tx: Queryable,
  input: { slotId: number; isCapacityFull: boolean },
): Promise<{ slot: SlotRow; storeRequestId: string }> {
  const [slot] = await tx.query(updateSlotCapacityRow, [input.slotId, input.isCapacityFull]);
  if (slot === undefined) throw fail(slotErrors.slotNotFound);
  return { slot, storeRequestId: await requestStoreRefresh(tx) };
}
