import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { viaPort } from '../support/proxy.ts';
import type { Replica } from '../support/replica.ts';
import {
  hideSequence,
  listenForSequences,
  readSequence,
  untilAnswered,
  untilNotified,
  updateSequence,
} from '../support/sequences.ts';
import { createSlot, expectCaughtUp, openSlotIds } from '../support/slot-writes.ts';
import { Stage } from '../support/stage.ts';
import { type ListenerProxy, startListenerProxy } from './listener-proxy.ts';

describe('The cached delivery sequences of three replicas', () => {
  let stage: Stage;
  let proxy: ListenerProxy;
  let replicas: readonly Replica[];
  let writer: Replica;
  /** Its database is behind the proxy. */
  let proxied: Replica;
  beforeAll(async () => {
    stage = await Stage.open();
    proxy = await startListenerProxy(Number(new URL(stage.database.url).port));
    const databaseUrl = viaPort(stage.database.url, proxy.port);
    const [one, two] = await Promise.all([stage.start(), stage.start({ databaseUrl })]);
    [writer, proxied] = [one, two];
    replicas = [one, two, await stage.start()];
  });
  afterAll(async () => {
    await stage.close();
    await proxy.close();
  });

  it('A replica serves no stale sequence once it was notified of an update', async () => {
    const { slotId } = await createSlot(writer);
    const listened = await listenForSequences(stage);
    const turns = Array.from({ length: 30 }, (_, at) => at + 1);
    let done = false;
    // Readers fill the caches again all the time, also while an update runs.
    const readers = replicas.map(async (replica) => {
      while (!done) await readSequence(replica, slotId);
    });
    try {
      for (const turn of turns) {
        await updateSequence(replicas[turn % 3] ?? writer, slotId, turn);
        await untilNotified(stage, replicas);
        const served = await Promise.all(replicas.map((replica) => readSequence(replica, slotId)));
        expect(served).toEqual([turn, turn, turn]);
      }
    } finally {
      done = true;
      await Promise.all(readers);
      await listened.stop();
    }
    expect(listened.slotIds).toEqual(turns.map(() => slotId));
    // The answers came from the caches.
    await hideSequence(stage, slotId, 99);
    expect(await Promise.all(replicas.map((replica) => readSequence(replica, slotId)))).toEqual([30, 30, 30]);
  });

  it('A replica does not cache a sequence that was read before an update and arrives after it', async () => {
    const { slotId } = await createSlot(writer);
    await updateSequence(writer, slotId, 1);
    await untilNotified(stage, [proxied]);
    const listened = await listenForSequences(stage);
    onTestFinished(() => listened.stop());
    const since = new Date();
    proxy.hold();
    const early = readSequence(proxied, slotId);
    await untilAnswered(stage, since);
    await updateSequence(writer, slotId, 2);
    await expect.poll(() => listened.slotIds).toEqual([slotId]);
    proxy.release();
    expect(await early).toBe(1);
    await untilNotified(stage, [proxied]);
    expect(await readSequence(proxied, slotId)).toBe(2);
  });

  it('A replica that gets no notifications bypasses its cache, and uses it again afterwards', async () => {
    const { slotId } = await createSlot(writer);
    await updateSequence(writer, slotId, 1);
    await untilNotified(stage, [proxied]);
    expect(await readSequence(proxied, slotId)).toBe(1);
    await hideSequence(stage, slotId, 2);
    expect(await readSequence(proxied, slotId)).toBe(1);

    proxy.cutListener();
    await expect.poll(() => proxied.logged('the connection for notifications failed')).toBeGreaterThan(0);
    expect(await readSequence(proxied, slotId)).toBe(2);
    for (let turn = 3; turn <= 20; turn += 1) {
      await updateSequence(writer, slotId, turn);
      expect(await readSequence(proxied, slotId)).toBe(turn);
    }
    await updateSequence(proxied, slotId, 21);
    await hideSequence(stage, slotId, 22);
    expect(await readSequence(proxied, slotId)).toBe(22);

    // It loads the versions of the stores that it missed once it is notified again.
    const missed = await createSlot(writer);
    await expectCaughtUp(writer, [missed.slotId], 30_000);
    expect(await openSlotIds(proxied)).not.toContain(missed.slotId);
    proxy.mendListener();
    await expect.poll(() => openSlotIds(proxied)).toContain(missed.slotId);
    expect(await readSequence(proxied, slotId)).toBe(22);
    await hideSequence(stage, slotId, 23);
    expect(await readSequence(proxied, slotId)).toBe(22);
  });
});
