import type { ConnectError } from '@connectrpc/connect';
import type { Database } from '../../../shared/db/database.ts';
import { statement } from '../../../shared/db/statement.ts';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import { type SequenceCache, sequenceChannel } from '../slots/sequence-cache.ts';

/**
 * Finishes a slot write: once it is committed, requests the store refresh (spec 1) and drops the cached delivery
 * sequence, which has the slot's old etag. Sends the header `store-request-id`, with which the caller can read its
 * own write from the stores.
 */
export function afterSlotWrite(
  { sequences, requestRefresh }: { readonly sequences: SequenceCache; requestRefresh(): void },
  call: CallContext,
  { id, storeRequestId }: { readonly id: number; readonly storeRequestId: string },
): void {
  call.responseHeaders.set('store-request-id', storeRequestId);
  call.afterWrite(() => {
    sequences.drop(id);
    // Runs even if the outcome of the commit is unknown. A refresh without pending requests does nothing.
    requestRefresh();
  });
}

/**
 * Returns the error for an outdated etag (design 9). The caller may have the etag from the cached delivery sequence.
 * Drops it here at once and on the other replicas by a notification, so that the next read returns the current etag.
 */
export function staleSlot(
  { sequences, database }: { readonly sequences: SequenceCache; readonly database: Database },
  call: CallContext,
  id: number,
): ConnectError {
  sequences.drop(id);
  // Outside of the call's transaction, which is rolled back. A failure is harmless: the next refusal notifies again.
  const { subject, signal } = call;
  database
    .for({ subject, signal })
    .query(notifySequence({ id }))
    .catch(() => undefined);
  return fail(commonErrors.etagMismatch);
}

const notifySequence = statement<never, { id: number }>(
  'notifySequence',
  `select pg_notify('${sequenceChannel}', json_build_object('slotId', $id::integer)::text)`,
);
