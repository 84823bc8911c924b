import {
  GetProductSlotsResponseSchema,
  type SlotStoreService,
} from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { StoreParts } from '../parts.ts';
import { ResponseCache, toOpenSlots } from '../stores/response-cache.ts';

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
  const responses = new ResponseCache(GetProductSlotsResponseSchema, database.clock, maxShown);
  return async ({ productIds }, call) => {
    const content = await replica.read(call);
    return responses.get(content, productIds.join(), (open) => {
      const { byProduct, version, refreshedAt } = content;
      const ofProduct = (id: number) => ({ slots: toOpenSlots(open.among(byProduct.get(id) ?? [])) });
      return { slots: new Map(productIds.map((id) => [id, ofProduct(id)])), version, refreshedAt };
    });
  };
}
