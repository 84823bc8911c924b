import type { ConnectError } from '@connectrpc/connect';
import type { Database } from '../../../shared/db/database.ts';
import { statement } from '../../../shared/db/statement.ts';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import { type SequenceCache, sequenceChannel } from '../slots/sequence-cache.ts';

/** What drops cached sequences and refreshes the stores. */
interface WriteParts {
  readonly sequences: SequenceCache;
  requestRefresh(): void;
}

/** Finishes the write of one slot, as `afterSlotWrites` does. */
export function afterSlotWrite(
  parts: WriteParts,
  call: CallContext,
  { id, storeRequestId }: { readonly id: number; readonly storeRequestId: string },
): void {
  afterSlotWrites(parts, call, { ids: [id], storeRequestId });
}

/**
 * Finishes a write of slots: once it is committed, requests the store refresh (spec 1) and drops the cached delivery
 * sequences, which have the slots' old etags. Sends the header `store-request-id`, with which the caller can read its
 * own write from the stores.
 */
export function afterSlotWrites(
  { sequences, requestRefresh }: WriteParts,
  call: CallContext,
  { ids, storeRequestId }: { readonly ids: readonly number[]; readonly storeRequestId: string },
): void {
  call.responseHeaders.set('store-request-id', storeRequestId);
  void call.afterWrite(() => {
    for (const id of ids) sequences.drop(id);
    // Runs even if the outcome of the commit is unknown. A refresh without pending requests does nothing.
    requestRefresh();
  });
}

/** What drops cached sequences on all replicas. */
interface DropParts {
  readonly sequences: SequenceCache;
  readonly database: Database;
}

/** Returns the error for an outdated etag (design 9), and drops the slot's cached sequence. */
export function staleSlot(parts: DropParts, call: CallContext, id: number): ConnectError {
  dropStaleSlots(parts, call, [id]);
  return fail(commonErrors.etagMismatch);
}

/**
 * Drops the cached delivery sequences of slots for which a caller gave an outdated etag, because the caller may have
 * read that etag from a cache. This replica drops them at once, the others after a notification, so that the next read
 * returns the current etag.
 */
export function dropStaleSlots({ sequences, database }: DropParts, call: CallContext, ids: readonly number[]): void {
  for (const id of ids) sequences.drop(id);
  // Outside of the call's transaction, which is rolled back. A failure is harmless: the next refusal notifies again.
  const { subject, signal } = call;
  database
    .for({ subject, signal })
    .query(notifySequences({ ids }))
    .catch(() => undefined);
}

const notifySequences = statement<never, { ids: readonly number[] }>(
  'notifySequences',
  `select pg_notify('${sequenceChannel}', json_build_object('slotId', id)::text) from unnest($ids::integer[]) as id`,
);
