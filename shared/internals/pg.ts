import pg from 'pg';
import { PinnedLibrary } from './pinned-library.ts';

/**
 * What this project uses of pg and its pool beyond their documentation.
 *
 * - A client keeps, in `processID` and `secretKey`, the key by which the server lets others cancel its
 *   statement. pg sends a cancel request only through a client of its own that it connects anew, and a
 *   pooler does not take `pg_cancel_backend` (see db/cancel.ts).
 * - The pool gives the error of a wait that took too long no code and no class, only a text.
 * - A connection is idle, and a call waits, exactly while `idleCount` and `waitingCount` say so:
 *   db/database.ts decides by them whether a connection comes at once.
 */
export const pgClient = new PinnedLibrary('pg', '8.23.1');
export const pgPool = new PinnedLibrary('pg-pool', '3.14.0');

const poolTimeoutText = 'timeout exceeded when trying to connect';

declare module 'pg' {
  interface ClientBase {
    readonly host: string;
    readonly port: number;
    readonly processID: number | null;
    readonly secretKey: number | null;
  }
}

/** Throws a `ConfigError` when pg or its pool has no longer what the functions below use. */
export function checkPg({ Client, Pool }: { Client: new () => object; Pool: new () => object } = pg): void {
  const client = new Client();
  const hasKey = 'processID' in client && 'secretKey' in client;
  pgClient.check(hasKey, 'keeps the key that cancels a statement elsewhere');
  const pool = new Pool();
  pgPool.check('idleCount' in pool && 'waitingCount' in pool, 'does not count what is idle and who waits');
  // The text can only be found in the source: to see the error takes a server that is too slow.
  const hasText = 'connect' in pool && String(pool.connect).includes(poolTimeoutText);
  pgPool.check(hasText, 'has another text for a wait that took too long');
}

/** Where a connection leads, and the key that cancels its statement. */
export interface CancellationKey {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
}

/** The key that a connection was given; undefined while it has none. */
export function cancellationKeyOf({ host, port, processID, secretKey }: pg.ClientBase): CancellationKey | undefined {
  return processID === null || secretKey === null ? undefined : { host, port, processID, secretKey };
}

/** Whether an error of a pool says that no connection became free in time. */
export function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === poolTimeoutText;
}
