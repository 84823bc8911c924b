import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Authority } from '../support/certificates.ts';
import { failureOf } from '../support/contract.ts';
import { getSlotsPattern, holding, lockSlots, updateCapacityPattern } from '../support/locks.ts';
import { type ClientSide, expectNoConnection, slotsOver, storesOver, TlsStage } from '../support/tls-stage.ts';

const ports = ['grpcPort', 'webPort'] as const;
const patient = { timeoutMs: 30_000 };
const readAgain = 'the certificate files were read again';
const unusable = 'the certificate files can not be used: those before stay';

describe('Certificate files that are replaced', () => {
  let stage: TlsStage;
  beforeAll(async () => {
    stage = await TlsStage.open({ mutual: false });
  });
  afterAll(() => stage.close());

  it('The certificate stays while its new files do not belong together, and changes once they do', async () => {
    const { folder, authority, replica, server } = stage;
    const next = await authority.sign();
    await folder.replace(folder.keyFile, next.key);
    await expect.poll(() => replica.logged(unusable)).toBe(1);
    for (const port of ports) expect(await stage.shownOn(port)).toBe(server.serialNumber);
    await folder.replace(folder.certFile, 'not a certificate');
    await expect.poll(() => replica.logged(unusable)).toBe(2);
    for (const port of ports) expect(await stage.shownOn(port)).toBe(server.serialNumber);
    await folder.replace(folder.certFile, next.cert);
    await expect.poll(() => replica.logged(readAgain)).toBe(1);
    for (const port of ports) expect(await stage.shownOn(port)).toBe(next.serialNumber);
  });

  it('Certificate files that are replaced are shown to new connections, while open ones go on', async () => {
    const { folder, authority, trusting } = stage;
    const transports = [stage.grpc(trusting), stage.connect(trusting)];
    const watches = transports.map((transport) => storesOver(transport).watchStore({})[Symbol.asyncIterator]());
    for (const watch of watches) await watch.next();
    const next = await authority.sign();
    await folder.replace(folder.certFile, next.cert);
    await folder.replace(folder.keyFile, next.key);
    for (const port of ports) await expect.poll(() => stage.shownOn(port)).toBe(next.serialNumber);
    // A write makes a new version of the stores, which the watches on the old connections receive.
    const slots = slotsOver(transports[1] ?? stage.connect(trusting));
    await slots.createSlot({ deliveryTime: '2030-01-02', freezeTime: '2030-01-01' }, patient);
    for (const watch of watches) expect((await watch.next()).done).toBe(false);
    for (const watch of watches) await watch.return?.();
  });
});

it('A client authority that is replaced decides about new connections on both ports', async ({ onTestFinished }) => {
  const stage = await TlsStage.open({ mutual: true });
  onTestFinished(() => stage.close());
  const { folder, replica, trusting, authority } = stage;
  const other = await Authority.create('the next authority');
  const before: ClientSide = { ...trusting, own: await authority.sign() };
  const after: ClientSide = { ...trusting, own: await other.sign() };
  const ask = (side: ClientSide) =>
    [stage.grpc(side), stage.connect(side)].map((transport) => slotsOver(transport).getSlots({}, patient));
  await Promise.all(ask(before));
  await folder.replace(folder.clientCaFile, other.cert);
  await expect.poll(() => replica.logged(readAgain)).toBe(1);
  await Promise.all(ask(after));
  await Promise.all(ask(before).map(expectNoConnection));
});

describe('A service over TLS that is asked to stop', () => {
  let stage: TlsStage;
  beforeEach(async () => {
    stage = await TlsStage.open({ mutual: false });
  });
  afterEach(() => stage.close());

  it('A service over TLS that stops finishes the calls in flight on both ports', async () => {
    const silent = connect(stage.replica.ports.webPort, '127.0.0.1').resume();
    await once(silent, 'connect');
    await holding(stage.databaseUrl, lockSlots, async (lock) => {
      // Two reads of one kind would share a statement.
      const read = slotsOver(stage.connect(stage.trusting)).getSlots({}, patient);
      const write = failureOf(
        slotsOver(stage.grpc(stage.trusting)).updateSlotCapacity({ slotId: 1, isCapacityFull: true }, patient),
      );
      await lock.untilAwaited(1, getSlotsPattern);
      await lock.untilAwaited(1, updateCapacityPattern);
      const stopped = stage.replica.stop();
      // Meanwhile, connections without a call are closed.
      await once(silent, 'close');
      await lock.release();
      expect(await read).toMatchObject({ count: 0 });
      expect((await write).rawMessage).toBe('Slot not found');
      expect(await stopped).toBe(0);
    });
  });

  it('A service over TLS that stops does not wait for connections on which nothing was sent', async () => {
    const { replica } = stage;
    (await stage.dial('webPort', { ALPNProtocols: ['http/1.1'] })).resume();
    for (const port of [replica.ports.grpcPort, replica.ports.webPort]) {
      await once(connect(port, '127.0.0.1').resume(), 'connect');
    }
    const startedAt = performance.now();
    expect(await replica.stop()).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('A service over TLS that stops does not wait for the connection of a watch on the web port that it has ended', async () => {
    const watch = storesOver(stage.connect(stage.trusting)).watchStore({})[Symbol.asyncIterator]();
    await watch.next();
    const startedAt = performance.now();
    expect(await stage.replica.stop()).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect((await watch.next()).done).toBe(true);
  });
});
