import pg from 'pg';
import type { TestContext } from 'vitest';
import { it } from 'vitest';
import type { Replica } from '../support/replica.ts';
import { createSlot, expectCaughtUp, openSlot, openSlotIds } from '../support/slot-writes.ts';
import { describeBackends, type Stage } from '../support/stage.ts';
import { openStage } from './stage-of-test.ts';

const burst = 1_000;
const patienceMs = 60_000;

describeBackends('Three replicas', (backend) => {
  it('A burst of writes makes few refreshes, and each replica has each version within a second', async (context) => {
    const { expect } = context;
    const stage = await openStage(context, backend);
    const replicas = await Promise.all([1, 2, 3].map(() => stage.start({ refreshDelayMs: 20_000 })));
    const first = await createSlot(replicas[0] ?? never());
    for (const replica of replicas) await expectCaughtUp(replica, [first.slotId], patienceMs);
    const before = await latestVersion(stage);
    const notifiedAt = await listen(stage, context);
    const watches = replicas.map((replica) => watch(replica, context));
    for (const receivedAt of watches) await expect.poll(() => receivedAt.has(before)).toBe(true);

    const slotIds = await writeBurst(replicas);
    for (const replica of replicas) await expectCaughtUp(replica, slotIds, patienceMs);

    const after = await latestVersion(stage);
    expect(after - before).toBeLessThanOrEqual(3);
    const refreshes = () => replicas.reduce((sum, replica) => sum + replica.logged('stores refreshed'), 0);
    await expect.poll(refreshes).toBe(after);
    await expect.poll(() => [...notifiedAt.keys()]).toEqual(range(before + 1, after));
    for (const receivedAt of watches) {
      await expect.poll(() => [...receivedAt.keys()]).toEqual(range(before, after));
      // From when PostgreSQL notified this process, which is as busy as the replicas.
      for (const [version, at] of notifiedAt) expect((receivedAt.get(version) ?? 0) - at).toBeLessThan(1_000);
    }
    const [one, ...others] = await Promise.all(replicas.map(openSlotIds));
    for (const other of others) expect(other).toEqual(one);
  });
});

/** Notes when this process is notified of each version. */
async function listen({ database }: Stage, { onTestFinished }: TestContext): Promise<Map<number, number>> {
  const notifiedAt = new Map<number, number>();
  const client = new pg.Client({ connectionString: database.url });
  client.on('notification', ({ payload }) => notifiedAt.set(Number(payload), performance.now()));
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('listen store_version');
  return notifiedAt;
}

/** Notes when a replica shows each version to a watch. */
function watch({ stores }: Replica, { onTestFinished }: TestContext): Map<number, number> {
  const receivedAt = new Map<number, number>();
  const caller = new AbortController();
  onTestFinished(() => caller.abort());
  const read = async () => {
    for await (const { version } of stores.watchStore({}, { signal: caller.signal })) {
      receivedAt.set(version, performance.now());
    }
  };
  read().catch(() => undefined);
  return receivedAt;
}

/** Writes through all replicas at once. */
async function writeBurst(replicas: readonly Replica[]): Promise<number[]> {
  const slotIds: number[] = [];
  let started = 0;
  const writers = Array.from({ length: 12 }, async (_, n) => {
    const replica = replicas[n % replicas.length] ?? never();
    while (started < burst) {
      started += 1;
      const { slot } = await replica.slots.createSlot(openSlot());
      slotIds.push(slot?.id ?? 0);
    }
  });
  await Promise.all(writers);
  return slotIds;
}

async function latestVersion(stage: Stage): Promise<number> {
  const [row] = await stage.database.sql<{ version: number }>('select max(version) as version from store_versions');
  return row?.version ?? 0;
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

function never(): never {
  throw new Error('there is no such replica');
}
