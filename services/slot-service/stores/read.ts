import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { StoreContent } from './content.ts';
import type { StoreReplica } from './replica.ts';

/**
 * Resolves with the current stores. A call with the header `store-request-id` first waits until they cover that write
 * (design 4). Rejects as `StoreReplica.untilCovers` does.
 */
export async function readStores(replica: StoreReplica, call: CallContext): Promise<StoreContent> {
  const requestId = call.header('store-request-id');
  if (requestId !== undefined) {
    const caller = { subject: call.subject, signal: call.signal.toAbortSignal() };
    await call.withoutPermit(() => replica.untilCovers(requestId, caller));
  }
  return replica.content;
}
