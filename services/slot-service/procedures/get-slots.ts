import { statement } from '../../../shared/db/statement.ts';
import { GetSlotsResponseSchema, SlotSchema, type SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { valueField } from '../../../shared/rpc/protobuf/fields-encoder.ts';
import { LongResponse, longList, longMessage } from '../../../shared/rpc/protobuf/long-message.ts';
import { shareResponse } from '../../../shared/rpc/protobuf/shared-response.ts';
import type { SlotParts } from '../parts.ts';
import { type SlotRow, sequenceText, slotColumns, toSlotFields } from '../slots/slot.ts';
import { areSlotsTooLarge, type ListedOr, type ListRow, listedRows, sequenceSize } from '../slots/slot-list.ts';

/**
 * Spec 4.1, getSlots: lists the active slots, unordered, without products. Throws RESOURCE_EXHAUSTED for
 * a list that is too large.
 */
export function getSlots({ database }: SlotParts): Handler<typeof SlotService.method.getSlots> {
  const { slots } = GetSlotsResponseSchema.field;
  const readSlots = shareResponse(database, async (db) => {
    const rows = listedRows(await db.query(selectSlots()));
    const list = longList(slots, rows, toLongSlot, sequenceSize);
    return new LongResponse(longMessage(GetSlotsResponseSchema, { count: rows.length }, [list]));
  });
  return (_request, call) => readSlots(call);
}

function toLongSlot(slot: SlotRow) {
  const sequence = valueField(SlotSchema.field.deliverySequence, sequenceText(slot));
  return longMessage(SlotSchema, toSlotFields(slot), [], sequence);
}

const selectSlots = statement<ListedOr<ListRow>>(
  'getSlots',
  `with size as (select ${areSlotsTooLarge} as is_too_large)
   select ${slotColumns}, slots.shown_bytes as "shownBytes"
   from size left join slots on is_active and not is_too_large
   where is_too_large or slots.id is not null`,
);
