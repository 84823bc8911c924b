import { type Database, statement } from '../../../shared/db/database.ts';
import type { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { Call } from '../../../shared/rpc/call.ts';
import type { Handlers } from '../../../shared/rpc/implementation.ts';
import type { StoreReplica } from './replica.ts';
import { openAt, type StoreContent } from './store.ts';

export interface StoreHandlerParts {
  readonly database: Database;
  readonly replica: StoreReplica;
  /** Aborts when the service begins to stop. */
  readonly draining: AbortSignal;
}

const pendingRequests = statement<{ pending: number }>(
  'pendingRequests',
  'select count(*)::integer as pending from store_refresh_requests',
);

/** The reads of the derived stores (design 4), from this process's memory. */
export function createStoreHandlers({
  database,
  replica,
  draining,
}: StoreHandlerParts): Handlers<typeof SlotStoreService> {
  /** The stores as they are now, or once they cover the write that the caller names. */
  async function read(call: Call): Promise<StoreContent> {
    const requestId = call.header('store-request-id');
    if (requestId !== undefined) await replica.covers(requestId, AbortSignal.any([call.signal, draining]));
    return replica.content;
  }

  return {
    async getOpenSlots(_request, call) {
      const { slots, version, refreshedAt } = await read(call);
      return { slots: openAt(slots, Date.now()), version, refreshedAt };
    },

    async getProductSlots({ productIds }, call) {
      const { byProduct, version, refreshedAt } = await read(call);
      const now = Date.now();
      const entries = productIds.map((id) => [id, { slots: openAt(byProduct.get(id) ?? [], now) }]);
      return { slots: Object.fromEntries(entries), version, refreshedAt };
    },

    async getStoreStatus(_request, call) {
      const { version, refreshedAt } = await read(call);
      const [row] = await database.during(call.signal).query(pendingRequests);
      return { version, refreshedAt, pendingRequests: row?.pending ?? 0 };
    },

    async *watchStore({ afterVersion }, call) {
      await read(call);
      for await (const { version, refreshedAt } of replica.versions(AbortSignal.any([call.signal, draining]))) {
        if (afterVersion === undefined || version > afterVersion) yield { version, refreshedAt };
      }
      // On shutdown the stream ends as one that is complete; a call that was given up has its error.
      call.signal.throwIfAborted();
    },
  };
}
