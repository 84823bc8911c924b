import { describe, it, type TestContext } from 'vitest';
import { holding } from '../support/locks.ts';
import { noRedisServer } from '../support/redis.ts';
import { startSentinelRedis } from '../support/sentinel.ts';
import { createSlot, expectCaughtUp, readCovering } from '../support/slot-writes.ts';
import { Stage } from '../support/stage.ts';

const reason = noRedisServer === undefined ? '' : ` (skipped: ${noRedisServer})`;

const passwords = [
  { title: 'without passwords', password: '' },
  { title: 'with passwords', password: 'open-sesame' },
];

const caughtUpWithinMs = 30_000;

/** Starts a slot-service whose stores show a first slot, with its jobs in the Redis of a Sentinel. */
async function startReplica(password: string, { onTestFinished }: TestContext) {
  const redis = await startSentinelRedis(password);
  const stage = await Stage.open();
  onTestFinished(async () => {
    await stage.close();
    await redis.stop();
  });
  const replica = await stage.start({ env: redis.env });
  const first = await createSlot(replica);
  await readCovering(replica, first, 30_000);
  return { redis, stage, replica, first };
}

describe.skipIf(noRedisServer).concurrent.each(passwords)(
  `A failover of Redis Sentinel $title${reason}`,
  ({ password }) => {
    it('During a failover of Redis Sentinel, slots can be written, and the stores catch up afterwards', async (context) => {
      const { expect } = context;
      const { redis, replica, first } = await startReplica(password, context);

      await redis.killMaster();
      let isOver = false;
      const failedOver = redis.failedOver().finally(() => {
        isOver = true;
      });
      const slotIds = [first.slotId];
      let maxMs = 0;
      while (!isOver) {
        const startedAt = performance.now();
        slotIds.push((await createSlot(replica)).slotId);
        maxMs = Math.max(maxMs, performance.now() - startedAt);
      }
      await failedOver;
      // No write waited for the queue, which is given up after 5 s.
      expect(maxMs).toBeLessThan(4_500);
      const startedAt = performance.now();
      await expectCaughtUp(replica, slotIds, caughtUpWithinMs);
      const next = await createSlot(replica);
      expect(await readCovering(replica, next, 10_000)).toContain(next.slotId);
      expect(performance.now() - startedAt).toBeLessThan(2 * caughtUpWithinMs);
    });

    it('After a failover of Redis Sentinel that lost the end of a refresh, the stores catch up', async (context) => {
      const { redis, stage, replica, first } = await startReplica(password, context);

      // The new master takes this refresh for running, and no later one starts until BullMQ finds it stalled.
      const during = await holding(stage.database.url, 'lock table store_versions in share mode', async (refresh) => {
        const written = await createSlot(replica);
        await refresh.untilAwaited();
        await redis.cutReplication();
        return written;
      });
      await readCovering(replica, during, 10_000);
      await redis.killMaster();
      await redis.failedOver();
      const next = await createSlot(replica);
      await expectCaughtUp(replica, [first.slotId, during.slotId, next.slotId], caughtUpWithinMs);
    });
  },
);
