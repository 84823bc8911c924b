import pg from 'pg';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';

/** What a transaction of the test's own holds, and the service waits for. */
export interface Lock {
  /** The number of statements that wait for it now, of those whose text is like the pattern. */
  waiting(pattern?: string): Promise<number>;
  /** Resolves once that many statements wait for it, or more. */
  untilAwaited(count?: number, pattern?: string): Promise<void>;
  /** Ends the transaction. */
  release(end?: 'commit' | 'rollback'): Promise<void>;
}

/**
 * Runs `work` while a transaction has done what the statements do: taken a lock, or written a row. The
 * transaction ends with `work` at the latest.
 */
export async function holding<Result>(
  databaseUrl: string,
  statements: string,
  work: (lock: Lock) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const waiting = async (pattern = '%') => {
    // Within a transaction, PostgreSQL repeats what it said of the activity first.
    await client.query('select pg_stat_clear_snapshot()');
    // A sweep comes every 30 s, and is no call of the test's.
    const blocked = await client.query(
      `select from pg_stat_activity
       where pg_backend_pid() = any(pg_blocking_pids(pid)) and query like $1 and query not like 'with oldest as (%'`,
      [pattern],
    );
    return blocked.rowCount ?? 0;
  };
  try {
    await client.query(`begin; ${statements}`);
    return await work({
      waiting,
      untilAwaited: (count = 1, pattern) =>
        eventually(async () =>
          expect(await waiting(pattern), 'statements that wait for the lock').toBeGreaterThanOrEqual(count),
        ),
      release: async (end = 'rollback') => void (await client.query(end)),
    });
  } finally {
    await client.end();
  }
}

/**
 * Makes a call that has to wait for a transaction of the test's own, and ends that once the call waits.
 *
 * @param statements what the transaction does before the call.
 * @returns what the call comes to. Throws when it never waits.
 */
export function whileHeld<Result>(
  databaseUrl: string,
  statements: string,
  call: () => Promise<Result>,
  end: 'commit' | 'rollback' = 'commit',
): Promise<Result> {
  return holding(databaseUrl, statements, async (lock) => {
    const calling = call();
    calling.catch(() => undefined);
    await lock.untilAwaited();
    await lock.release(end);
    return calling;
  });
}

/** Every read of slots waits for this lock. */
export const lockSlots = 'lock table slots in access exclusive mode';
/** An UpdateSlotCapacity: a statement of its own for each call, where calls of a read would share one. */
export const updateCapacityPattern = '%update slots set is_capacity_full%';
/** A GetSlots. */
export const getSlotsPattern = '% from size left join slots on is_active %';
