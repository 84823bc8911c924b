/** Which transactions a snapshot of PostgreSQL has seen. */
export interface TransactionSnapshot {
  /** All below have ended. */
  readonly from: bigint;
  /** None from here on is seen. */
  readonly to: bigint;
  /** Those between that were still running. */
  readonly running: ReadonlySet<bigint>;
}

/** Reads the text form of `pg_snapshot`, such as `10:20:10,14`. */
export function parseSnapshot(text: string): TransactionSnapshot {
  const [from = '', to = '', running = ''] = text.split(':');
  const ids = running === '' ? [] : running.split(',').map(BigInt);
  return { from: BigInt(from), to: BigInt(to), running: new Set(ids) };
}

/** Whether the snapshot has seen a transaction, as `pg_visible_in_snapshot` tells. */
export function sees(snapshot: TransactionSnapshot, id: bigint): boolean {
  return id < snapshot.to && !snapshot.running.has(id);
}
