import type { ConnectError } from '@connectrpc/connect';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { SequenceCache } from '../slots/sequence-cache.ts';

/** What follows from a slot write, besides its answer. */
interface WrittenSlotParts {
  readonly sequences: SequenceCache;
  /** Asks for a store refresh after a commit; neither waits nor throws (design 4, step 2). */
  requestRefresh(): void;
}

/**
 * Once a slot write is committed, asks for the store refresh (spec 1), and drops the cached delivery sequence, which has
 * the slot's old etag. Sends the header `store-request-id`, by which the caller can read its own write from the stores.
 */
export function afterSlotWrite(
  { sequences, requestRefresh }: WrittenSlotParts,
  call: CallContext,
  { id, storeRequestId }: { readonly id: number; readonly storeRequestId: string },
): void {
  call.responseHeaders.set('store-request-id', storeRequestId);
  call.afterWrite((isCommitted) => {
    sequences.drop(id);
    if (isCommitted) requestRefresh();
  });
}

/**
 * Makes the error for an etag that is not the slot's (design 9). Drops the cached delivery sequence, from which the caller may
 * have the etag: another read of it then gets the slot's.
 */
export function staleSlot({ sequences }: Pick<WrittenSlotParts, 'sequences'>, id: number): ConnectError {
  sequences.drop(id);
  return fail(commonErrors.etagMismatch);
}
