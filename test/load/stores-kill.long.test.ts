import { describe, it } from 'vitest';
import { holding } from '../support/locks.ts';
import type { Replica } from '../support/replica.ts';
import { createSlot, expectCaughtUp, openSlotIds, readCovering, type Written } from '../support/slot-writes.ts';
import { describeBackends, describeRedisServer } from '../support/stage.ts';
import { openRedisStage, openStage } from './stage-of-test.ts';

async function write(replica: Replica, count: number): Promise<Written[]> {
  const written: Written[] = [];
  for (let n = 0; n < count; n += 1) written.push(await createSlot(replica));
  return written;
}

const never: Written = { slotId: 0, requestId: '' };
const idsOf = (written: readonly Written[]) => written.map(({ slotId }) => slotId);

describeBackends('A slot-service that is killed', (backend) => {
  it('A slot-service that is killed during a refresh has lost no committed write after its restart', async (context) => {
    const { expect } = context;
    const stage = await openStage(context, backend);
    const replica = await stage.start();
    // The first sweep and the first job serve these two.
    const first = await write(replica, 1);
    await readCovering(replica, first[0] ?? never, 10_000);
    first.push(await createSlot(replica));
    await readCovering(replica, first[1] ?? never, 10_000);
    let written: Written[] = [];
    // The refresh waits at its start, and then where it deletes the requests that it took.
    const { url } = stage.database;
    await holding(url, 'lock table store_versions in share mode', async (start) => {
      written = await write(replica, 5);
      await start.untilAwaited();
      await holding(url, 'select from store_refresh_requests for update', async (middle) => {
        await start.release();
        await middle.untilAwaited();
        await replica.kill();
      });
    });
    await stage.disconnect('slot-service');
    expect(await stage.pending()).toBe(5);
    const restarted = await stage.start();
    expect(await openSlotIds(restarted)).toEqual(idsOf([...first, ...written]));
    expect(await stage.pending()).toBe(0);
    // BullMQ takes the job for running until it finds it stalled; the sweep may come before.
    const next = await createSlot(restarted);
    expect(await readCovering(restarted, next, 25_000)).toEqual(idsOf([...first, ...written, next]));
  });

  it('A write of a slot-service that was killed is in the stores of another one that goes on', async (context) => {
    const { expect } = context;
    const stage = await openStage(context, backend);
    const [killed, other] = await Promise.all([stage.start({ refreshDelayMs: 3_000 }), stage.start()]);
    const written = await write(killed, 5);
    await killed.kill();
    // Writes that the killed one had not queued wait for the sweep.
    expect(await readCovering(other, written[4] ?? never, 40_000)).toEqual(idsOf(written));
  });
});

describe.concurrent('A kill between commit and enqueue, jobs on PostgreSQL', () => {
  it('A slot-service that is killed between commit and enqueue in PostgreSQL has lost no write after its restart', async (context) => {
    const { expect } = context;
    const stage = await openStage(context);
    const replica = await stage.start();
    const written = await holding(
      stage.database.url,
      'lock table bullmq.job in access exclusive mode',
      async (lock) => {
        const ids = idsOf(await write(replica, 5));
        await lock.untilAwaited(1, '%add_job%');
        await replica.kill();
        // Otherwise PostgreSQL would still run the statement that waits.
        await stage.disconnect('slot-service jobs');
        return ids;
      },
    );
    expect(await stage.pending()).toBe(5);
    expect(await openSlotIds(await stage.start())).toEqual(written);
  });
});

describeRedisServer('A kill between commit and enqueue', () => {
  it('A slot-service that is killed between commit and enqueue in Redis has lost no write after its restart', async (context) => {
    const { expect } = context;
    const { stage, redis } = await openRedisStage(context);
    const replica = await stage.start();
    redis.hang();
    const written = idsOf(await write(replica, 5));
    await replica.kill();
    // The commands in its sockets are lost with it.
    await redis.kill();
    await redis.resume();
    expect(await stage.pending()).toBe(5);
    expect(await openSlotIds(await stage.start())).toEqual(written);
  });

  it('A slot-service that is killed while Redis is away catches up when both are back', async (context) => {
    const { stage, redis } = await openRedisStage(context);
    const replica = await stage.start();
    await redis.kill();
    const written = await write(replica, 5);
    await replica.kill();
    const restarted = await stage.start();
    const more = await write(restarted, 5);
    await redis.resumeEmpty();
    await expectCaughtUp(restarted, idsOf([...written, ...more]), 15_000);
  });
});
