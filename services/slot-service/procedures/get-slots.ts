import { statement } from '../../../shared/db/statement.ts';
import { GetSlotsResponseSchema, type SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import { shareResponse } from '../../../shared/rpc/answers/share-response.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { SlotParts } from '../parts.ts';
import { type SlotRow, slotColumns, toSlot } from '../slots/slot.ts';
import { areSlotsTooLarge, type ListedOr, listedRows } from '../slots/slot-list.ts';

/**
 * Spec 4.1, getSlots: lists the active slots, unordered, without products. Throws RESOURCE_EXHAUSTED for
 * a list that is too large.
 */
export function getSlots({ database }: SlotParts): Handler<typeof SlotService.method.getSlots> {
  const readSlots = shareResponse(database, GetSlotsResponseSchema, async (db) => {
    const rows = listedRows(await db.query(selectSlots()));
    return { slots: mapped(rows, toSlot), count: rows.length };
  });
  return (_request, call) => readSlots(call);
}

const selectSlots = statement<ListedOr<SlotRow>>(
  'getSlots',
  `with size as (select ${areSlotsTooLarge} as is_too_large)
   select ${slotColumns}
   from size left join slots on is_active and not is_too_large
   where is_too_large or slots.id is not null`,
);
