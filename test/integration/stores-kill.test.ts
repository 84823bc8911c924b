import { describe, it, type TestContext } from 'vitest';
import { RedisServer } from '../support/redis.ts';
import type { Replica } from '../support/replica.ts';
import { type Backend, describeBackends, describeRedisServer, Stage } from './stores-stage.ts';
import { createSlot, expectCaughtUp, openSlotIds, readCovering, type Written } from './stores-writes.ts';

const timeout = 60_000;
const refreshStatement = 'with taken as (delete from store_refresh_requests';

async function openStage(backend: Backend, { onTestFinished }: TestContext): Promise<Stage> {
  const stage = await Stage.open(backend);
  onTestFinished(() => stage.close());
  return stage;
}

async function openRedisStage({ onTestFinished }: TestContext): Promise<{ stage: Stage; redis: RedisServer }> {
  const redis = await RedisServer.start();
  const stage = await Stage.on(redis);
  onTestFinished(() => stage.close());
  return { stage, redis };
}

async function write(replica: Replica, count: number): Promise<Written[]> {
  const written: Written[] = [];
  for (let n = 0; n < count; n += 1) written.push(await createSlot(replica));
  return written;
}

const never: Written = { slotId: 0, requestId: '' };
const idsOf = (written: readonly Written[]) => written.map(({ slotId }) => slotId);

describeBackends('A slot-service that is killed', (backend) => {
  it('during a refresh has lost no committed write after its restart', { timeout }, async (context) => {
    const { expect } = context;
    const stage = await openStage(backend, context);
    const replica = await stage.start();
    // The first two are served by the first sweep and the first job.
    const first = await write(replica, 1);
    await readCovering(replica, first[0] ?? never, 10_000);
    first.push(await createSlot(replica));
    await readCovering(replica, first[1] ?? never, 10_000);
    let written: Written[] = [];
    // The refresh waits at its start, then in its middle, where it deletes the requests that it took.
    await stage.holding('lock table store_versions in share mode', async (release) => {
      written = await write(replica, 5);
      await stage.untilBlocked('slot-service', 'lock table store_versions');
      await stage.holding('select from store_refresh_requests for update', async () => {
        await release();
        await stage.untilBlocked('slot-service', refreshStatement);
        await replica.kill();
      });
    });
    await stage.disconnect('slot-service');
    expect(await stage.pending()).toBe(5);
    const restarted = await stage.start();
    expect(await openSlotIds(restarted)).toEqual(idsOf([...first, ...written]));
    expect(await stage.pending()).toBe(0);
    // What BullMQ takes for a running job is in the way until it is found stalled, or the sweep runs.
    const next = await createSlot(restarted);
    expect(await readCovering(restarted, next, 25_000)).toEqual(idsOf([...first, ...written, next]));
  });

  it('while another one goes on has lost no write either', { timeout }, async (context) => {
    const { expect } = context;
    const stage = await openStage(backend, context);
    const [killed, other] = await Promise.all([stage.start({ refreshDelayMs: 3_000 }), stage.start()]);
    const written = await write(killed, 5);
    await killed.kill();
    // What the killed one had not queued waits for the sweep.
    expect(await readCovering(other, written[4] ?? never, 40_000)).toEqual(idsOf(written));
  });
});

describe.concurrent('A slot-service that is killed between commit and enqueue, jobs on PostgreSQL', () => {
  it('has lost no write after its restart', { timeout }, async (context) => {
    const { expect } = context;
    const stage = await openStage('PostgreSQL', context);
    const replica = await stage.start();
    const written = await stage.holding('lock table bullmq.job in access exclusive mode', async () => {
      const ids = idsOf(await write(replica, 5));
      await stage.untilBlocked('slot-service jobs', 'add_job');
      await replica.kill();
      // Else the server would still carry out what it was asked for.
      await stage.disconnect('slot-service jobs');
      return ids;
    });
    expect(await stage.pending()).toBe(5);
    expect(await openSlotIds(await stage.start())).toEqual(written);
  });
});

describeRedisServer('A slot-service that is killed between commit and enqueue', () => {
  it('has lost no write after its restart', { timeout }, async (context) => {
    const { expect } = context;
    const { stage, redis } = await openRedisStage(context);
    const replica = await stage.start();
    redis.hang();
    const written = idsOf(await write(replica, 5));
    await replica.kill();
    // What waits in its sockets is gone with it.
    await redis.kill();
    await redis.resume();
    expect(await stage.pending()).toBe(5);
    expect(await openSlotIds(await stage.start())).toEqual(written);
  });

  it('or while Redis is away catches up when both are back', { timeout }, async (context) => {
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
