/**
 * A request for a store refresh: a row that a write appends in its own transaction, so that no
 * committed write loses its refresh (design 4). Its id is made of two parts. The transaction id tells
 * whether a version covers the write, because a version knows which transactions its snapshot sees.
 * The timeline tells whether the transaction id still means that write: a recovery or a failover may
 * lose the transaction and give its id to another.
 */
export interface StoreRequest {
  readonly timeline: number;
  readonly transaction: bigint;
}

const transactionBits = 48;
// PostgreSQL keeps the ids below for itself.
const firstTransaction = 3n;

/** Reads a `store-request-id`; undefined for a text that is the id of no write. */
export function parseStoreRequest(text: string): StoreRequest | undefined {
  if (!/^[1-9]\d{0,18}$/.test(text)) return undefined;
  const id = BigInt(text);
  const timeline = Number(id >> BigInt(transactionBits));
  const transaction = BigInt.asUintN(transactionBits, id);
  return timeline === 0 || transaction < firstTransaction ? undefined : { timeline, transaction };
}

/** SQL of a common table expression that appends a request for a slot's id. `slotId` is SQL, as of a row of `changed`. */
export function appendRefreshRequest(slotId: string, changed: string): string {
  return `request as (insert into store_refresh_requests (slot_id) select ${slotId} from ${changed})`;
}

/** SQL of the column that gives the request's id. */
export const requestIdColumn = 'store_request_id()::text as "storeRequestId"';

/** The transactions that a snapshot of PostgreSQL sees. */
export interface TransactionSnapshot {
  /** All transactions below have ended. */
  readonly from: bigint;
  /** The snapshot sees no transaction from here on. */
  readonly to: bigint;
  /** The transactions between that were still running. */
  readonly running: ReadonlySet<bigint>;
}

/** Reads the text form of `pg_snapshot`, such as `10:20:10,14`. */
export function parseSnapshot(text: string): TransactionSnapshot {
  const [from = '', to = '', running = ''] = text.split(':');
  const ids = running === '' ? [] : running.split(',').map(BigInt);
  return { from: BigInt(from), to: BigInt(to), running: new Set(ids) };
}

/** Whether the snapshot sees a transaction, as `pg_visible_in_snapshot` has it. */
export function sees(snapshot: TransactionSnapshot, id: bigint): boolean {
  return id < snapshot.to && !snapshot.running.has(id);
}
