import pg from 'pg';
import { PinnedLibrary } from './pinned-library.ts';

/**
 * This project depends on these parts of pg and its pool beyond their documentation:
 *
 * - A client keeps the key that cancels its statement in `processID` and `secretKey`. We send the cancel request
 *   ourselves (see db/pool/cancel.ts). pg's own `cancel` is undocumented too and reports no outcome, and
 *   `pg_cancel_backend` does not work through a pooler.
 */
export const pgClient = new PinnedLibrary('pg', '8.23.1');

declare module 'pg' {
  interface ClientBase {
    readonly host: string;
    readonly port: number;
    readonly processID: number | null;
    readonly secretKey: number | null;
  }
}

/** Throws a `ConfigError` if pg no longer has the parts that this project uses. */
export function checkPg({ Client }: { Client: new () => object } = pg): void {
  const client = new Client();
  const hasKey = 'processID' in client && 'secretKey' in client;
  pgClient.check(hasKey, 'keeps the cancellation key of a connection elsewhere');
}

/** The address of a connection's server, and the key that cancels its statement there. */
export interface CancellationKey {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
}

/** Returns the cancellation key of a connection; undefined until the server has sent it. */
export function cancellationKeyOf({ host, port, processID, secretKey }: pg.ClientBase): CancellationKey | undefined {
  return processID === null || secretKey === null ? undefined : { host, port, processID, secretKey };
}
