import { expect } from 'vitest';
import { CallSignal } from '../../shared/cancellation/signal.ts';
import { readConfig } from '../../shared/config/config.ts';
import { Database } from '../../shared/db/database.ts';
import { statement } from '../../shared/db/statement.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { createDatabase } from './database.ts';
import { testSecret } from './tokens.ts';

const poolSize = 4;
const nap = statement<{ pid: number }>('nap', 'select pg_backend_pid() as pid from pg_sleep(0.002)');

/**
 * Cancels statements about when they end, while others take turns with them on the same few connections. Expects that
 * no other one fails, and that the connections are the same from the first statement to the last.
 */
export async function expectCancelsHarmless(cancels: number): Promise<void> {
  const testDatabase = await createDatabase();
  const config = readConfig('slot', { DATABASE_URL: testDatabase.url, AUTH_JWT_SECRET: testSecret });
  const database = new Database({ ...config.database, poolSize }, createLogger('test', 'silent'));
  const sessions = new Set<number>();
  const failures: unknown[] = [];
  let [left, canceled] = [cancels, 0];
  const run = async (signal: CallSignal) => {
    for (const { pid } of await database.for({ signal }).query(nap())) sessions.add(pid);
  };
  const lanes = Array.from({ length: 2 * poolSize }, async () => {
    while (left > 0) {
      left -= 1;
      const signal = new CallSignal();
      const reason = new Error('canceled by the test');
      setTimeout(() => signal.abort(() => reason), 5 * Math.random());
      await run(signal).catch((error: unknown) => {
        if (error !== reason) failures.push(error);
        canceled += 1;
      });
      await run(new CallSignal()).catch((error: unknown) => failures.push(error));
    }
  });
  await Promise.all(lanes);
  await database.close();
  await testDatabase.close();
  expect(failures).toEqual([]);
  expect(canceled).toBeGreaterThan(cancels / 10);
  expect(sessions.size).toBeLessThanOrEqual(poolSize + 1);
}
