import { create } from '@bufbuild/protobuf';
import { type Database, statement } from '../../../shared/db/database.ts';
import {
  GetOpenSlotsResponseSchema,
  type GetProductSlotsResponseSchema,
  type SlotStoreService,
} from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Handlers } from '../../../shared/rpc/implementation.ts';
import { CachedResponse } from '../../../shared/rpc/protobuf/encoding.ts';
import { ResponseCache } from './answers.ts';
import { ProductSlotsAnswer } from './product-slots-answer.ts';
import type { StoreReplica } from './replica.ts';
import { openAt, type StoreContent } from './store.ts';

export interface StoreHandlerParts {
  readonly database: Database;
  readonly replica: StoreReplica;
}

const pendingRequests = statement<{ pending: number }>(
  'pendingRequests',
  'select count(*)::integer as pending from store_refresh_requests',
);

// Each slot and product id takes some ten bytes in each of two encodings.
const maxShownProducts = 1_000_000;

/** The reads of the derived stores (design 4), from this process's memory. */
export function createStoreHandlers({ database, replica }: StoreHandlerParts): Handlers<typeof SlotStoreService> {
  // The one answer that shows all slots is kept whatever its size.
  const allAnswers = new ResponseCache<typeof GetOpenSlotsResponseSchema>(Number.MAX_SAFE_INTEGER);
  const productAnswers = new ResponseCache<typeof GetProductSlotsResponseSchema>(maxShownProducts);

  /** The stores as they are now, or once they cover the write that the caller names. */
  async function read(call: CallContext): Promise<StoreContent> {
    const requestId = call.header('store-request-id');
    if (requestId !== undefined) await replica.untilCovers(requestId, call.signal.toAbortSignal());
    return replica.content;
  }

  return {
    async getOpenSlots(_request, call) {
      const content = await read(call);
      return allAnswers.get(content, '', (nowMs) => {
        const { version, refreshedAt } = content;
        const shown = openAt(content.slots, nowMs);
        const slots = shown.map(({ message }) => message);
        const message = create(GetOpenSlotsResponseSchema, { slots, version, refreshedAt });
        return { answer: new CachedResponse(GetOpenSlotsResponseSchema, message), shown };
      });
    },

    async getProductSlots({ productIds }, call) {
      const content = await read(call);
      return productAnswers.get(content, productIds.join(), (nowMs) => {
        const { byProduct, version, refreshedAt } = content;
        const slots = productIds.map((id) => [id, openAt(byProduct.get(id) ?? [], nowMs)] as const);
        const answer = new ProductSlotsAnswer({ version, refreshedAt, slots });
        return { answer, shown: slots.flatMap(([, open]) => open) };
      });
    },

    async getStoreStatus(_request, call) {
      const { version, refreshedAt } = await read(call);
      const [row] = await database.withSignal(call.signal).query(pendingRequests);
      return { version, refreshedAt, pendingRequests: row?.pending ?? 0 };
    },

    async *watchStore({ afterVersion }, call) {
      await read(call);
      const signal = call.signal.toAbortSignal();
      const isNew = (version: number) =>
        afterVersion === undefined || version > afterVersion || replica.hasLost(afterVersion);
      // Once one is sent, all that come after it are new to the caller, whatever their numbers.
      let hasSent = false;
      for await (const { version, refreshedAt } of replica.versions(signal)) {
        hasSent ||= isNew(version);
        if (hasSent) yield { version, refreshedAt };
      }
      // On shutdown the stream ends as one that is complete; a call that was given up has its error.
      call.signal.throwIfAborted();
    },
  };
}
