import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/**
 * Makes a call while another transaction has done something and not ended yet, and ends that
 * transaction once the call waits for it.
 *
 * @param held what the other transaction does.
 * @returns what the call comes to. Throws when it never waits.
 */
export async function whileHeld<Result>(
  databaseUrl: string,
  held: string,
  call: () => Promise<Result>,
  end: 'commit' | 'rollback' = 'commit',
): Promise<Result> {
  const other = new pg.Client({ connectionString: databaseUrl });
  await other.connect();
  try {
    await other.query(`begin; ${held}`);
    const calling = call();
    calling.catch(() => undefined);
    for (let attempt = 1; ; attempt += 1) {
      const { rowCount } = await other.query(
        'select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))',
      );
      if (rowCount !== 0) break;
      if (attempt === 200) throw new Error('the call does not wait for the other transaction');
      await pause(10);
    }
    await other.query(end);
    return await calling;
  } finally {
    await other.end();
  }
}
