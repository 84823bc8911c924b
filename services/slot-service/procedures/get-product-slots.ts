import {
  GetProductSlotsResponseSchema,
  OpenSlotListSchema,
  type SlotStoreService,
} from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { LongResponse, longMap, longMessage } from '../../../shared/rpc/protobuf/long-message.ts';
import type { StoreParts } from '../parts.ts';
import { openSlotList } from '../stores/open-slots.ts';
import { readStores } from '../stores/read.ts';
import { ResponseCache } from '../stores/response-cache.ts';

// Each slot and product id takes about ten bytes in each of two encodings.
const maxShown = 1_000_000;

/**
 * Design 4, GetProductSlots: lists the open slots of each requested product, soonest delivery first. Throws
 * RESOURCE_EXHAUSTED for more than 5,000,000 slots and product ids.
 */
export function getProductSlots({
  database,
  replica,
}: StoreParts): Handler<typeof SlotStoreService.method.getProductSlots> {
  const responses = new ResponseCache<typeof GetProductSlotsResponseSchema>(database.clock, maxShown);
  return async ({ productIds }, call) => {
    const content = await readStores(replica, call);
    return responses.get(content, productIds.join(), (open) => {
      const { byProduct, version, refreshedAt } = content;
      const ofProducts = productIds.map((id) => [id, open.among(byProduct.get(id) ?? [])] as const);
      const slots = longMap(GetProductSlotsResponseSchema.field.slots, ofProducts, (ofProduct) =>
        longMessage(OpenSlotListSchema, {}, [openSlotList(OpenSlotListSchema.field.slots, ofProduct)]),
      );
      return new LongResponse(longMessage(GetProductSlotsResponseSchema, { version, refreshedAt }, [slots]));
    });
  };
}
