import type { CallContext } from '../../../shared/rpc/call-context.ts';

/**
 * A request for a store refresh is a row appended in the transaction of the write that asks for it,
 * so that a committed write can't lose its refresh (design 4). It is known by that transaction's id,
 * because the stores know which transactions they have seen, whatever the order of their commits; and
 * by the timeline of the database, because a recovery or a failover may lose that transaction, and
 * give its id to another.
 */
export interface StoreRequest {
  readonly timeline: number;
  readonly transaction: bigint;
}

const transactionBits = 48;
// Those below are not of transactions.
const firstTransaction = 3n;

/** Reads a `store-request-id`; undefined for what no write can have. */
export function parseStoreRequest(text: string): StoreRequest | undefined {
  if (!/^[1-9]\d{0,18}$/.test(text)) return undefined;
  const id = BigInt(text);
  const timeline = Number(id >> BigInt(transactionBits));
  const transaction = BigInt.asUintN(transactionBits, id);
  return timeline === 0 || transaction < firstTransaction ? undefined : { timeline, transaction };
}

/** SQL of a common table expression that appends a request when the expression `changed` has a row. */
export function appendRefreshRequest(changed: string): string {
  return `request as (insert into store_refresh_requests (requested_at) select now() from ${changed})`;
}

/** SQL of the column that gives the request's id. */
export const requestIdColumn = 'store_request_id()::text as "storeRequestId"';

/** Schedules the refresh of a committed write, and gives its caller the id to read the own write by. */
export function scheduleRefresh(parts: { requestRefresh(): void }, call: CallContext, storeRequestId: string): void {
  call.responseHeaders.set('store-request-id', storeRequestId);
  parts.requestRefresh();
}
