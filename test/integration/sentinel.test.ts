import { describe, it } from 'vitest';
import { noRedisServer } from '../support/redis.ts';
import { startSentinelRedis } from '../support/sentinel.ts';
import { Stage } from './stores-stage.ts';
import { createSlot, expectCaughtUp, readCovering } from './stores-writes.ts';

const timeout = 60_000;
const reason = noRedisServer === undefined ? '' : ` (skipped: ${noRedisServer})`;

const passwords = [
  { title: 'without passwords', password: '' },
  { title: 'with passwords', password: 'open-sesame' },
];

describe.skipIf(noRedisServer).concurrent.each(passwords)(
  `When Redis Sentinel $title makes another master${reason}`,
  ({ password }) => {
    it('slots are written all the time, and the stores catch up by its queue', { timeout }, async (context) => {
      const { expect, onTestFinished } = context;
      const redis = await startSentinelRedis(password);
      const stage = await Stage.open('PostgreSQL');
      onTestFinished(async () => {
        await stage.close();
        await redis.stop();
      });
      const replica = await stage.start({ env: redis.env });
      const first = await createSlot(replica);
      expect(await readCovering(replica, first, 10_000)).toEqual([first.slotId]);

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
      // The queue takes 5 s to be given up: no write waited for it.
      expect(maxMs).toBeLessThan(4_500);
      const sweeps = 30_000;
      const startedAt = performance.now();
      await expectCaughtUp(replica, slotIds, sweeps / 2);
      const next = await createSlot(replica);
      expect(await readCovering(replica, next, 10_000)).toContain(next.slotId);
      expect(performance.now() - startedAt).toBeLessThan(sweeps);
    });
  },
);
