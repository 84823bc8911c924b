import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { underLoad } from '../load/rolling-load.ts';
import { describeWithEngine, docker } from './engine.ts';
import { LoadedStack, services } from './loaded-stack.ts';

describeWithEngine('docker-compose.yml', () => {
  let loaded: LoadedStack;

  beforeAll(async () => {
    loaded = await LoadedStack.up();
  });

  afterAll(() => loaded?.stack.remove());

  it.each(services)(
    'The containers of %s are replaced one after the other under load, and no call and no write is lost',
    async (service) => {
      const name = `roll-${service}`;
      const before = await loaded.stack.containersOf(service);
      const { failures, acknowledged } = await loaded.workUnderLoad(name, async (loads) => {
        for (const container of before) {
          await docker('stop', container);
          expect(await docker('inspect', '--format', '{{.State.ExitCode}}', container)).toBe('0');
          await docker('rm', container);
          await loaded.stack.refill(service);
          await underLoad(loads);
        }
        for (const container of await loaded.stack.containersOf(service)) {
          await expect.poll(() => loaded.stack.answers(container)).toBe(true);
        }
      });
      expect(failures).toEqual([]);
      expect((await loaded.stack.containersOf(service)).filter((container) => before.includes(container))).toEqual([]);
      expect((await loaded.writtenBy(name)).toSorted()).toEqual(acknowledged.toSorted());
      await loaded.expectStoresToHave(name);
    },
  );

  it('A restart of Redis under load loses no call and no write, and the stores catch up', async () => {
    const { failures, acknowledged } = await loaded.workUnderLoad('redis', async (loads) => {
      await loaded.stack.run('restart', 'redis');
      await underLoad(loads);
    });
    expect(failures).toEqual([]);
    expect((await loaded.writtenBy('redis')).toSorted()).toEqual(acknowledged.toSorted());
    await loaded.expectStoresToHave('redis');
  });

  it('A container that calls dns:///slot-service:50051 calls each replica, and finds the address of a new one', async () => {
    const [gone = '', kept = ''] = await loaded.stack.containersOf('slot-service');
    const caller = await loaded.stack.startCaller('dns:///slot-service:50051', 'dns');
    onTestFinished(async () => void (await docker('rm', '--force', caller)));
    for (const replica of [gone, kept]) await expect.poll(() => loaded.stack.answers(replica, 'dns')).toBe(true);
    // Beside the others, so that it gets an address that none of them had.
    await loaded.stack.refill('slot-service', 3);
    const [added = ''] = (await loaded.stack.containersOf('slot-service')).filter((id) => id !== gone && id !== kept);
    await docker('rm', '--force', gone);
    // A client asks DNS at most every 30 s.
    for (const replica of [kept, added]) await expect.poll(() => loaded.stack.answers(replica, 'dns')).toBe(true);
  });

  it('What was written is there after docker compose down and up', async () => {
    const count = 'select count(*) from slots';
    const before = await loaded.stack.sql(count);
    await loaded.stack.run('down');
    await loaded.stack.run('up', '--detach', '--wait');
    expect(await loaded.stack.sql(count)).toEqual(before);
    expect((await loaded.slots().getSlotById({ id: loaded.slotId })).slot?.products).toMatchObject([{ name: 'Milk' }]);
  });
});
