import pg from 'pg';
import { PinnedLibrary } from './pinned-library.ts';

/**
 * What this project uses of pg and its pool beyond their documentation.
 *
 * - A client keeps the key that cancels its statement in `processID` and `secretKey`. We send the cancel
 *   request ourselves (see db/cancel.ts): pg's own `cancel` is undocumented too and reports no outcome,
 *   and `pg_cancel_backend` does not work through a pooler.
 * - The pool's error for a wait that took too long has no code and no class, only a text.
 * - db/database.ts takes `idleCount` and `waitingCount`, which are documented as mere counts, for
 *   whether a connection comes at once.
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

/** Throws a `ConfigError` when pg or its pool no longer has what this project uses. */
export function checkPg({ Client, Pool }: { Client: new () => object; Pool: new () => object } = pg): void {
  const client = new Client();
  const hasKey = 'processID' in client && 'secretKey' in client;
  pgClient.check(hasKey, 'keeps the cancellation key of a connection elsewhere');
  const pool = new Pool();
  pgPool.check('idleCount' in pool && 'waitingCount' in pool, 'has no idleCount or waitingCount');
  // Looks into the source, because only a slow server would produce the error.
  const hasText = 'connect' in pool && String(pool.connect).includes(poolTimeoutText);
  pgPool.check(hasText, 'words its timeout error differently');
}

/** The address of a connection's server, and the key that cancels its statement there. */
export interface CancellationKey {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
}

/** The cancellation key of a connection; undefined before the server has sent it. */
export function cancellationKeyOf({ host, port, processID, secretKey }: pg.ClientBase): CancellationKey | undefined {
  return processID === null || secretKey === null ? undefined : { host, port, processID, secretKey };
}

/** Whether a pool's error says that no connection became free in time. */
export function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === poolTimeoutText;
}
