import { statement } from '../../../shared/db/statement.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { SlotsResponse } from '../encoding/slot-lists.ts';
import type { SlotParts } from '../parts.ts';
import { type SlotRow, slotColumns } from '../slots/slot.ts';

/** Spec 4.1, getSlots: the active slots, unordered, without products. */
export function getSlots({ database }: SlotParts): Handler<typeof SlotService.method.getSlots> {
  return async (_request, call) => new SlotsResponse(await database.for(call).query(selectSlots()));
}

const selectSlots = statement<SlotRow>('getSlots', `select ${slotColumns} from slots where is_active`);
