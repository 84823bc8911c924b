import { it } from 'vitest';
import type { RedisServer } from '../support/redis.ts';
import type { Replica } from '../support/replica.ts';
import { createSlot, expectCaughtUp, readCovering } from '../support/slot-writes.ts';
import { describeRedisServer } from '../support/stage.ts';
import { openRedisStage } from './stage-of-test.ts';

const writesAhead = 100;
const writesAway = 200;

/** Writes slots one after the other. Returns their ids, and how long the median and the longest write took. */
async function write(replica: Replica, count: number, before: (n: number) => unknown = () => undefined) {
  const slotIds: number[] = [];
  const durations: number[] = [];
  for (let n = 0; n < count; n += 1) {
    await before(n);
    const start = performance.now();
    slotIds.push((await createSlot(replica)).slotId);
    durations.push(performance.now() - start);
  }
  durations.sort((left, right) => left - right);
  return { slotIds, medianMs: durations[Math.floor(count / 2)] ?? 0, maxMs: durations.at(-1) ?? 0 };
}

type Fault = readonly [string, (redis: RedisServer) => unknown, (redis: RedisServer) => unknown];
const faults: Fault[] = [
  ['stopped, then started', (redis) => redis.kill(), (redis) => redis.resume()],
  ['stopped, then started empty', (redis) => redis.kill(), (redis) => redis.resumeEmpty()],
  ['hung, then awake', (redis) => redis.hang(), (redis) => redis.wake()],
];
const absences: readonly (readonly [string, Fault[1]])[] = [
  ['stopped', (redis) => redis.kill()],
  ['hung', (redis) => redis.hang()],
];

describeRedisServer('The slot-service', () => {
  it.for(faults)(
    'Slots can be written while Redis is %s, and the stores catch up without help',
    async (fault, context) => {
      const { expect } = context;
      const [, takeAway, bringBack] = fault;
      const { redis, stage } = await openRedisStage(context);
      const replica = await stage.start();
      const ahead = await write(replica, writesAhead);
      const away = await write(replica, writesAway, (n) => n === writesAway / 10 && takeAway(redis));
      expect(away.medianMs).toBeLessThan(ahead.medianMs * 5 + 50);
      // No write waited for the queue, which is given up after 5 s.
      expect(away.maxMs).toBeLessThan(4_500);
      expect(await stage.pending()).toBeGreaterThan(0);
      await bringBack(redis);
      // By the next write, or by the sweep.
      await expectCaughtUp(replica, [...ahead.slotIds, ...away.slotIds], 30_000);
      const next = await createSlot(replica);
      expect(await readCovering(replica, next, 15_000)).toContain(next.slotId);
    },
  );

  it('A service starts while Redis is away, and its stores catch up without help', async (context) => {
    const { redis, stage } = await openRedisStage(context);
    await redis.kill();
    const replica = await stage.start();
    const { slotIds } = await write(replica, 10);
    await redis.resume();
    await expectCaughtUp(replica, slotIds, 30_000);
    context.expect(await replica.stop()).toBe(0);
  });

  it.for(absences)('A service stops in time while Redis is %s', async ([, takeAway], context) => {
    const { redis, stage } = await openRedisStage(context);
    const replica = await stage.start();
    await takeAway(redis);
    await write(replica, 200);
    const start = performance.now();
    context.expect(await replica.stop()).toBe(0);
    context.expect(performance.now() - start).toBeLessThan(10_000);
  });
});
