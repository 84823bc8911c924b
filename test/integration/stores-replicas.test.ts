import { timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, it, type TestContext } from 'vitest';
import type { Replica } from '../support/replica.ts';
import { startListenerProxy } from './stores-listener-proxy.ts';
import {
  hideSequence,
  listenForSequences,
  readSequence,
  untilAnswered,
  untilNotified,
  updateSequence,
} from './stores-sequences.ts';
import { type Backend, describeBackends, eventually, Stage } from './stores-stage.ts';
import { createSlot, expectCaughtUp, openSlot, openSlotIds } from './stores-writes.ts';

const timeout = 180_000;
const burst = 1_000;

async function openStage(backend: Backend, { onTestFinished }: TestContext): Promise<Stage> {
  const stage = await Stage.open(backend);
  onTestFinished(() => stage.close());
  return stage;
}

function startThree(stage: Stage, refreshDelayMs: number): Promise<Replica[]> {
  return Promise.all(Array.from({ length: 3 }, () => stage.start({ refreshDelayMs })));
}

/** Notes when a replica has each version, and how long that is after the version was stored. */
function watch({ stores }: Replica, caller: AbortController) {
  const lateMs = new Map<number, number>();
  const read = async () => {
    for await (const { version, refreshedAt } of stores.watchStore({}, { signal: caller.signal })) {
      lateMs.set(version, Date.now() - (refreshedAt === undefined ? 0 : timestampMs(refreshedAt)));
    }
  };
  read().catch(() => undefined);
  return lateMs;
}

describeBackends('Three replicas', (backend) => {
  it('make few refreshes of a burst of writes, and soon have the same version', { timeout }, async (context) => {
    const { expect } = context;
    const stage = await openStage(backend, context);
    const replicas = await startThree(stage, 20_000);
    const first = await createSlot(replicas[0] ?? never());
    for (const replica of replicas) await expectCaughtUp(replica, [first.slotId], 60_000);
    const before = await latestVersion(stage);
    const caller = new AbortController();
    const watches = replicas.map((replica) => watch(replica, caller));
    for (const lateMs of watches) await eventually(() => expect(lateMs.has(before)).toBe(true));

    const slotIds = await writeBurst(replicas);
    for (const replica of replicas) await expectCaughtUp(replica, slotIds, 60_000);

    const after = await latestVersion(stage);
    expect(after - before).toBeLessThanOrEqual(3);
    const refreshes = () => replicas.reduce((sum, replica) => sum + replica.logged('stores refreshed'), 0);
    // The log comes in pages.
    await eventually(() => expect(refreshes()).toBe(after));
    for (const lateMs of watches) {
      await eventually(() => expect([...lateMs.keys()]).toEqual(range(before, after)));
      for (const version of range(before + 1, after)) expect(lateMs.get(version)).toBeLessThan(1_000);
    }
    caller.abort();
    const [one, ...others] = await Promise.all(replicas.map(openSlotIds));
    for (const other of others) expect(other).toEqual(one);
  });
});

describe.concurrent('Three replicas and the delivery sequences', () => {
  it('serve none that is stale once they were told', { timeout }, async (context) => {
    const { expect } = context;
    const stage = await openStage('PostgreSQL', context);
    const replicas = await startThree(stage, 100);
    const { slotId } = await createSlot(replicas[0] ?? never());
    const listened = await listenForSequences(stage);
    let done = false;
    // Readers fill the caches again all the time, also while an update is under way.
    const readers = replicas.map(async (replica) => {
      while (!done) await readSequence(replica, slotId);
    });
    try {
      for (let turn = 1; turn <= 30; turn += 1) {
        await updateSequence(replicas[turn % 3] ?? never(), slotId, turn);
        await untilNotified(stage, replicas);
        const served = await Promise.all(replicas.map((replica) => readSequence(replica, slotId)));
        expect(served).toEqual([turn, turn, turn]);
      }
    } finally {
      done = true;
      await Promise.all(readers);
      await listened.stop();
    }
    expect(listened.slotIds).toEqual(Array.from({ length: 30 }, () => slotId));
    // It was from their caches that they served.
    await hideSequence(stage, slotId, 99);
    expect(await Promise.all(replicas.map((replica) => readSequence(replica, slotId)))).toEqual([30, 30, 30]);
  });

  it('keep none that was read before a change and arrives after it', { timeout }, async (context) => {
    const { expect, onTestFinished } = context;
    const { stage, writer, other, proxy } = await openBehindProxy(context);
    const { slotId } = await createSlot(writer);
    await updateSequence(writer, slotId, 1);
    await untilNotified(stage, [other]);
    const listened = await listenForSequences(stage);
    onTestFinished(() => listened.stop());
    const since = new Date();
    proxy.hold();
    const early = readSequence(other, slotId);
    await untilAnswered(stage, since);
    await updateSequence(writer, slotId, 2);
    await eventually(() => expect(listened.slotIds).toEqual([slotId]));
    proxy.release();
    expect(await early).toBe(1);
    await untilNotified(stage, [other]);
    expect(await readSequence(other, slotId)).toBe(2);
  });

  it('pass the cache by while they hear nothing', { timeout }, async (context) => {
    const { expect } = context;
    const { stage, writer, other: deaf, proxy } = await openBehindProxy(context);
    const { slotId } = await createSlot(writer);
    await updateSequence(writer, slotId, 1);
    await untilNotified(stage, [deaf]);
    expect(await readSequence(deaf, slotId)).toBe(1);
    await hideSequence(stage, slotId, 2);
    expect(await readSequence(deaf, slotId)).toBe(1);

    proxy.cutListener();
    await eventually(() => expect(deaf.logged('the connection for notifications failed')).toBeGreaterThan(0));
    expect(await readSequence(deaf, slotId)).toBe(2);
    for (let turn = 3; turn <= 20; turn += 1) {
      await updateSequence(writer, slotId, turn);
      expect(await readSequence(deaf, slotId)).toBe(turn);
    }
    await updateSequence(deaf, slotId, 21);
    await hideSequence(stage, slotId, 22);
    expect(await readSequence(deaf, slotId)).toBe(22);

    // New versions that it did not hear of, it has once it hears again.
    const missed = await createSlot(writer);
    await expectCaughtUp(writer, [missed.slotId], 10_000);
    expect(await openSlotIds(deaf)).not.toContain(missed.slotId);
    proxy.mendListener();
    await eventually(async () => expect(await openSlotIds(deaf)).toContain(missed.slotId));
    expect(await readSequence(deaf, slotId)).toBe(22);
    await hideSequence(stage, slotId, 23);
    expect(await readSequence(deaf, slotId)).toBe(22);
  });
});

/** Two replicas, the other of which has its database behind a proxy. */
async function openBehindProxy(context: TestContext) {
  const stage = await openStage('PostgreSQL', context);
  const url = new URL(stage.database.url);
  const proxy = await startListenerProxy(Number(url.port));
  context.onTestFinished(() => proxy.close());
  url.port = String(proxy.port);
  const [writer, other] = await Promise.all([stage.start(), stage.start({ databaseUrl: url.href })]);
  return { stage, proxy, writer, other };
}

/** Writes through all at once. */
async function writeBurst(replicas: readonly Replica[]): Promise<number[]> {
  const slotIds: number[] = [];
  let started = 0;
  const writers = Array.from({ length: 12 }, async (_, n) => {
    const replica = replicas[n % replicas.length] ?? never();
    for (; started < burst; ) {
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
