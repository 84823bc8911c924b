import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startCrashingPostgres } from '../support/crashing-postgres.ts';
import type { TestDatabase } from '../support/database.ts';
import { Replica } from '../support/replica.ts';
import { signToken } from '../support/tokens.ts';
import { RedemptionLoad } from './redemption-load.ts';

/** Two replicas of coupon-service, and a load over both. */
async function startStage(databaseUrl: string, sql: TestDatabase['sql']) {
  const start = () => Replica.start({ service: 'coupon', databaseUrl });
  const replicas: [Replica, Replica] = [await start(), await start()];
  const load = new RedemptionLoad(
    replicas.map(({ ports }) => ports),
    await signToken({ staffId: 1 }),
    sql,
  );
  onTestFinished(async () => {
    load.client.close();
    await Promise.all(replicas.map((replica) => replica.kill()));
  });
  return {
    load,
    /** Ends a replica as `kill -9` does, and starts it again once `meanwhile` is over. */
    async kill(index: 0 | 1, meanwhile: () => Promise<void>): Promise<void> {
      // At any moment of a call.
      await pause(Math.random() * 50);
      await replicas[index].kill();
      await meanwhile();
      replicas[index] = await replicas[index].startAgain();
    },
    /** Waits until the load has made so many calls. */
    async untilCalls(calls: number): Promise<void> {
      await expect.poll(() => load.calls, { timeout: 600_000, interval: 50 }).toBeGreaterThanOrEqual(calls);
    },
  };
}

it('70,000 calls over forty kills of replicas and five crashes of PostgreSQL are linearizable', {
  timeout: 3_600_000,
}, async () => {
  const server = await startCrashingPostgres();
  const { load, kill, untilCalls } = await startStage(server.url, server.sql);
  const kills = 40;
  const running = load.run(70_000);
  for (let n = 1; n <= kills; n += 1) {
    await Promise.race([running, untilCalls(n * 1_600)]);
    await kill(n % 2 === 0 ? 0 : 1, async () => {
      if (n % 8 === 0) await server.crash();
    });
  }
  await running;
  const unanswered = await load.expectLinearizable();
  console.info(
    `${load.calls} calls, ${unanswered} of them without an answer; ${JSON.stringify([...load.client.failures])}`,
  );
  expect(unanswered).toBeGreaterThan(0);
});
