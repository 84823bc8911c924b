import {
  GetOpenSlotsResponseSchema,
  type SlotStoreService,
} from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { StoreParts } from '../parts.ts';
import { ResponseCache, toOpenSlots } from '../stores/response-cache.ts';

/**
 * Design 4, GetOpenSlots: lists the slots that are open now, soonest delivery first. Throws RESOURCE_EXHAUSTED for more
 * than 5,000,000 slots and product ids.
 */
export function getOpenSlots({ database, replica }: StoreParts): Handler<typeof SlotStoreService.method.getOpenSlots> {
  // No limit is needed, because the only response is that of all slots.
  const responses = new ResponseCache(GetOpenSlotsResponseSchema, database.clock, Number.MAX_SAFE_INTEGER);
  return async (_request, call) => {
    const content = await replica.read(call);
    return responses.get(content, '', (open) => {
      const { version, refreshedAt } = content;
      return { slots: toOpenSlots(open.among(content.slots)), version, refreshedAt };
    });
  };
}
