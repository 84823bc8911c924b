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
