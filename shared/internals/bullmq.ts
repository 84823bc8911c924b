import * as library from 'bullmq';
import pg from 'pg';
import { PinnedLibrary } from './pinned-library.ts';

/**
 * This project depends on two undocumented parts of BullMQ: how it recognizes a lost connection, and the interface that
 * it requires of a pg pool.
 */
export const bullmq = new PinnedLibrary('bullmq', '6.7.0');

/** Throws a `ConfigError` if BullMQ no longer recognizes a lost connection by the text of its error. */
export function checkBullmq(exported: object = library): void {
  const isNotConnectionError: unknown = Reflect.get(exported, 'isNotConnectionError');
  const lost = connectionLost(new Error('the database is away'));
  const isKnown =
    typeof isNotConnectionError === 'function' && Reflect.apply(isNotConnectionError, undefined, [lost]) === false;
  bullmq.check(isKnown, 'does not recognize a lost connection by ECONNREFUSED');
}

/** Creates a pg pool that BullMQ accepts. Throws a `ConfigError` if this version of BullMQ works differently. */
export function createBullmqPool(config: pg.PoolConfig): pg.Pool & library.PgPool {
  checkBullmq();
  const pool = new BullmqPool(config);
  // BullMQ declares its own pool type, which pg's types do not match.
  if (library.isPgPool(pool)) return pool;
  throw bullmq.error('does not take a pool of pg');
}

type ConnectCallback = Parameters<typeof pg.Pool.prototype.connect>[0];

/**
 * Reports every failure to connect as ECONNREFUSED. A BullMQ worker backs off only after that error. It takes any other
 * error for a failed statement, and retries at once and for ever.
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
