import type {
  GetProductSlotsResponseSchema,
  SlotStoreService,
} from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { ProductSlotsResponse } from '../encoding/product-slots.ts';
import type { StoreParts } from '../parts.ts';
import { openAt } from '../stores/content.ts';
import { readStores } from '../stores/read.ts';
import { ResponseCache } from '../stores/response-cache.ts';

// Each slot and product id takes some ten bytes in each of two encodings.
const maxShown = 1_000_000;

/** Design 4, GetProductSlots: the open slots of each requested product, soonest delivery first. */
export function getProductSlots({ replica }: StoreParts): Handler<typeof SlotStoreService.method.getProductSlots> {
  const responses = new ResponseCache<typeof GetProductSlotsResponseSchema>(maxShown);
  return async ({ productIds }, call) => {
    const content = await readStores(replica, call);
    return responses.get(content, productIds.join(), (nowMs) => {
      const { byProduct, version, refreshedAt } = content;
      const slots = productIds.map((id) => [id, openAt(byProduct.get(id) ?? [], nowMs)] as const);
      const response = new ProductSlotsResponse({ version, refreshedAt, slots });
      return { response, shown: slots.flatMap(([, open]) => open) };
    });
  };
}
