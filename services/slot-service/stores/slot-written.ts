import type { ConnectError } from '@connectrpc/connect';
import type { Database } from '../../../shared/db/database.ts';
import { statement } from '../../../shared/db/statement.ts';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import { type SequenceCache, sequenceChannel } from '../slots/sequence-cache.ts';

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
  call.afterWrite(() => {
    sequences.drop(id);
    // Also when it is not known whether the write is committed. A refresh does nothing if no request waits.
    requestRefresh();
  });
}

/**
 * Makes the error for an etag that is not the slot's (design 9). Drops the cached delivery sequence, from which the caller may
 * have the etag, here at once and on the other replicas: another read of it then gets the slot's.
 */
export function staleSlot({ sequences, database }: StaleSlotParts, call: CallContext, id: number): ConnectError {
  sequences.drop(id);
  // Not in the call's transaction, which is rolled back. Nothing is lost if it fails: the next refusal notifies again.
  const { subject, signal } = call;
  database
    .for({ subject, signal })
    .query(notifySequence({ id }))
    .catch(() => undefined);
  return fail(commonErrors.etagMismatch);
}

interface StaleSlotParts extends Pick<WrittenSlotParts, 'sequences'> {
  readonly database: Database;
}

const notifySequence = statement<never, { id: number }>(
  'notifySequence',
  `select pg_notify('${sequenceChannel}', json_build_object('slotId', $id::integer)::text)`,
);
