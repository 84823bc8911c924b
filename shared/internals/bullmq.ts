import * as library from 'bullmq';
import pg from 'pg';
import { PinnedLibrary } from './pinned-library.ts';

/**
 * What this project uses of BullMQ beyond its documentation: how it recognizes a lost connection, and
 * what it requires of a pool of pg.
 */
export const bullmq = new PinnedLibrary('bullmq', '6.7.0');

/** Throws a `ConfigError` when BullMQ no longer recognizes a lost connection by its error's text. */
export function checkBullmq(exported: object = library): void {
  const isNotConnectionError: unknown = Reflect.get(exported, 'isNotConnectionError');
  const lost = connectionLost(new Error('the database is away'));
  const isKnown =
    typeof isNotConnectionError === 'function' && Reflect.apply(isNotConnectionError, undefined, [lost]) === false;
  bullmq.check(isKnown, 'does not recognize a lost connection by ECONNREFUSED');
}

/** A pool of pg that BullMQ takes. Throws a `ConfigError` when BullMQ differs from what this file uses. */
export function createBullmqPool(config: pg.PoolConfig): pg.Pool & library.PgPool {
  checkBullmq();
  const pool = new BullmqPool(config);
  // BullMQ has a type of its own for a pool, which the types of pg do not match.
  if (library.isPgPool(pool)) return pool;
  throw bullmq.error('does not take a pool of pg');
}

type ConnectCallback = Parameters<typeof pg.Pool.prototype.connect>[0];

/**
 * Reports every failure to connect as ECONNREFUSED. A worker of BullMQ backs off only from that error:
 * it takes any other for one of a statement, and tries again at once, without end.
 */
class BullmqPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    if (callback === undefined) {
      return super.connect().catch((error: Error) => {
        throw connectionLost(error);
      });
    }
    super.connect((error, client, done) => callback(error && connectionLost(error), client, done));
    return undefined;
  }
}

function connectionLost(cause: Error): Error {
  return new Error(`ECONNREFUSED: ${cause.message}`, { cause });
}
