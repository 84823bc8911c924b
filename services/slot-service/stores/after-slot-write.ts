import type { ConnectError } from '@connectrpc/connect';
import type { Database } from '../../../shared/db/database.ts';
import { statement } from '../../../shared/db/statement.ts';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import { type SequenceCache, sequenceChannel } from '../slots/sequence-cache.ts';

/** What a write of slots needs in the end. */
interface WriteParts {
  readonly database: Database;
  readonly sequences: SequenceCache;
  requestRefresh(): void;
}

/**
 * Finishes a write that has scheduled a store refresh (spec 1): requests it once the write is committed. Sends the
 * header `store-request-id`, with which the caller can read its own write from the stores.
 */
export function announceRefresh(
  { requestRefresh }: Pick<WriteParts, 'requestRefresh'>,
  call: CallContext,
  storeRequestId: string,
): void {
  call.responseHeaders.set('store-request-id', storeRequestId);
  // Runs even if the outcome of the commit is unknown. A refresh without pending requests does nothing.
  void call.afterWrite(() => requestRefresh());
}

/**
 * Finishes a write of slots: requests the store refresh, and drops the cached delivery sequences, which have the slots'
 * old etags, once the write is committed.
 */
export function afterSlotWrite(
  parts: Pick<WriteParts, 'sequences' | 'requestRefresh'>,
  call: CallContext,
  storeRequestId: string,
  changedIds: readonly number[] = [],
): void {
  void call.afterWrite(() => {
    for (const id of changedIds) parts.sequences.drop(id);
  });
  announceRefresh(parts, call, storeRequestId);
}

/**
 * Returns the error for outdated etags (design 9), and drops the cached delivery sequences of their slots, because the
 * caller may have read the etags from a cache. This replica drops them at once, the others after a notification.
 */
export function staleSlots(
  { sequences, database }: Pick<WriteParts, 'sequences' | 'database'>,
  { subject, signal }: CallContext,
  ids: readonly number[],
  metadata: Readonly<Record<string, string>> = {},
): ConnectError {
  for (const id of ids) sequences.drop(id);
  // Outside of the call's transaction, which is rolled back. A failure is harmless: the next refusal notifies again.
  database
    .for({ subject, signal })
    .query(notifySequences({ ids }))
    .catch(() => undefined);
  return fail(commonErrors.etagMismatch, { metadata });
}

const notifySequences = statement<never, { ids: readonly number[] }>(
  'notifySequences',
  `select pg_notify(own_name('${sequenceChannel}'), json_build_object('slotId', id)::text) from unnest($ids::integer[]) as id`,
);
