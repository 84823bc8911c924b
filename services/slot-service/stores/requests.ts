/**
 * A request for a store refresh: a row that a write inserts in its own transaction, so that no committed write loses
 * its refresh (design 4). Its id has two parts. The transaction id tells whether a version covers the write, because a
 * version knows which transactions its snapshot sees. The timeline tells whether the transaction id still identifies
 * that write: a recovery or failover may lose the transaction and reuse its id.
 */
export interface StoreRequest {
  readonly timeline: number;
  readonly transaction: bigint;
}

const transactionBits = 48;
// PostgreSQL reserves the ids below.
const firstTransaction = 3n;

/** Parses a `store-request-id`; undefined for a text that can't be the id of a write. */
export function parseStoreRequest(text: string): StoreRequest | undefined {
  if (!/^[1-9]\d{0,18}$/.test(text)) return undefined;
  const id = BigInt(text);
  const timeline = Number(id >> BigInt(transactionBits));
  const transaction = BigInt.asUintN(transactionBits, id);
  return timeline === 0 || transaction < firstTransaction ? undefined : { timeline, transaction };
}

/**
 * Returns SQL of a common table expression that inserts a refresh request for each row of `changed`.
 * `slotId` is SQL of the slot's id. Its name is `request`, and its rows are those that it has inserted.
 */
export function appendRefreshRequest(slotId: string, changed: string): string {
  return `request as (insert into store_refresh_requests (slot_id) select ${slotId} from ${changed} returning slot_id)`;
}

/** SQL of the column that returns the request's id. */
export const storeRequestIdColumn = 'store_request_id()::text as "storeRequestId"';

/** SQL of the same column; null if the statement has inserted no request. */
export const anyStoreRequestIdColumn =
  'case when exists (select from request) then store_request_id()::text end as "storeRequestId"';

/** SQL of how many committed writes no refresh has covered yet. */
export const pendingRequests = '(select count(*)::integer from store_refresh_requests)';

/** Describes which transactions a PostgreSQL snapshot sees. */
export interface TransactionSnapshot {
  /** All transactions below this id have ended. */
  readonly from: bigint;
  /** The snapshot sees no transaction from this id on. */
  readonly to: bigint;
  /** The transactions in between that were still running. */
  readonly running: ReadonlySet<bigint>;
}

/** Parses the text form of `pg_snapshot`, such as `10:20:10,14`. */
export function parseSnapshot(text: string): TransactionSnapshot {
  const [from = '', to = '', running = ''] = text.split(':');
  const ids = running === '' ? [] : running.split(',').map(BigInt);
  return { from: BigInt(from), to: BigInt(to), running: new Set(ids) };
}

/** Whether the snapshot sees a transaction, by the rules of `pg_visible_in_snapshot`. */
export function sees(snapshot: TransactionSnapshot, id: bigint): boolean {
  return id < snapshot.to && !snapshot.running.has(id);
}
