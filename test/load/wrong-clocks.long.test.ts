import { it } from 'vitest';
import { describeUnless } from '../support/describe-unless.ts';
import { fakeClock, noFaketime } from '../support/faketime.ts';
import { post } from '../support/post.ts';
import { noRedis } from '../support/redis.ts';
import type { Replica } from '../support/replica.ts';
import { scrape } from '../support/scrape.ts';
import { createSlot, expectCaughtUp, openSlotIds } from '../support/slot-writes.ts';
import type { Backend } from '../support/stage.ts';
import { signToken } from '../support/tokens.ts';
import { openStage } from './stage-of-test.ts';

/** How long the stores may be behind, whatever has become of the queue. */
const refreshedWithinMs = 30_000;
/** Jobs into which BullMQ would merge all later ones for minutes. */
const farJobs = `select id from bullmq.job where process_at_ms > extract(epoch from now() + interval '1 min') * 1000`;
const twoDays = 2 * 24 * 60 * 60;

const backends: Backend[] = noRedis === undefined ? ['PostgreSQL', 'Redis'] : ['PostgreSQL'];
const cases = backends.flatMap((backend) => ['+10m', '+1d', '-1d'].map((offset) => ({ backend, offset })));

/** How many refreshes are queued or under way, as a replica sees it. */
async function jobsOf({ log }: Replica): Promise<number> {
  const { value } = await scrape(Number(log.find(({ msg }) => msg === 'serving')?.metricsPort));
  const states = ['waiting', 'active', 'delayed'];
  return states.reduce((sum, state) => sum + (value(`jobs{job="store-refresh",state="${state}"}`) ?? 0), 0);
}

describeUnless(noFaketime, 'Replicas with a wrong clock', undefined, () => {
  it.concurrent.for(cases)(
    'A replica at $offset that takes a write and ends does not stop the refresh of the others, jobs on $backend',
    async ({ backend, offset }, { expect, onTestFinished }) => {
      const stage = await openStage({ onTestFinished }, backend);
      const replicas = await Promise.all([stage.start(), stage.start()]);
      const [first] = replicas;
      if (first === undefined) throw new Error('two replicas were started');
      const { slotId } = await createSlot(first);
      for (const replica of replicas) await expectCaughtUp(replica, [slotId], refreshedWithinMs);

      // With the delay of a real deployment, so that it ends before its own job is due.
      const clock = await fakeClock(offset);
      onTestFinished(clock.remove);
      const env = { ...clock.env, SLOT_METRICS_PORT: '0' };
      const wrong = await stage.start({ env, refreshDelayMs: 2_000 });
      const token = await signToken({ staffId: 1, expiresIn: twoDays });
      const full = JSON.stringify({ slotId, isCapacityFull: true });
      const response = await post(wrong.ports.webPort, 'UpdateSlotCapacity', token, full);
      expect(await response.json()).toMatchObject({ message: 'Slot marked as full capacity' });
      // Its job is queued, or another replica has done it.
      await expect.poll(async () => (await jobsOf(wrong)) > 0 || (await stage.pending()) === 0).toBe(true);
      await wrong.kill();

      const next = await createSlot(first);
      for (const replica of replicas) {
        await expect.poll(() => openSlotIds(replica), { timeout: refreshedWithinMs }).toEqual([next.slotId]);
      }
      if (backend === 'PostgreSQL') await expect.poll(() => stage.database.sql(farJobs)).toEqual([]);
      const last = await createSlot(first);
      for (const replica of replicas) await expectCaughtUp(replica, [last.slotId], refreshedWithinMs);
    },
  );
});
