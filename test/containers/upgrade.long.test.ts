import { expect, it, onTestFinished } from 'vitest';
import { underLoad } from '../load/rolling-load.ts';
import { migrationFiles, migrations } from '../support/old-database.ts';
import { checkOutRelease, readReleaseBefore } from '../support/release-before.ts';
import { describeWithEngine, docker } from './engine.ts';
import { LoadedStack, services } from './loaded-stack.ts';

describeWithEngine('docker-compose.yml of the last release', () => {
  it('The last release is upgraded to this one as documented, under load and with a kill while both serve, and no call and no write is lost', async () => {
    const loaded = await LoadedStack.up(await checkOutRelease());
    const { stack } = loaded;
    onTestFinished(() => stack.remove());
    const { migrations: released } = await readReleaseBefore();
    const added = migrations.filter((_, index) => !((migrationFiles[index] ?? '') in released));
    const imagesOf = (container: string) => docker('inspect', '--format', '{{.Image}} {{.Config.Image}}', container);

    const { failures, acknowledged } = await loaded.workUnderLoad('upgrade', async (loads) => {
      await stack.run('build');
      const applied = await stack.run('run', '--rm', '-T', 'migrate');
      for (const migration of added) expect(applied).toContain(`applied ${migration}\n`);
      await underLoad(loads);
      for (const service of services) {
        for (const [index, container] of (await stack.containersOf(service)).entries()) {
          await docker('stop', container);
          await docker('rm', container);
          await stack.refill(service);
          // One replica of the last release serves beside one of this release.
          if (index === 0) await killNewest(loaded, service, container);
          await underLoad(loads);
        }
      }
      await stack.run('up', '--detach', '--wait', 'staff-console');
    });

    expect(failures).toEqual([]);
    expect((await loaded.writtenBy('upgrade')).toSorted()).toEqual(acknowledged.toSorted());
    await loaded.expectStoresToHave('upgrade');
    for (const service of [...services, 'staff-console']) {
      for (const container of await stack.containersOf(service)) {
        const [running, name = ''] = (await imagesOf(container)).split(' ');
        expect(running).toBe(await docker('image', 'inspect', '--format', '{{.Id}}', name));
      }
    }
  });
});

/** Kills the replica of this release, and waits until it serves again. */
async function killNewest({ stack }: LoadedStack, service: string, removed: string): Promise<void> {
  const created = '{{.Created}} {{.Id}}';
  const containers = (await stack.containersOf(service)).filter((container) => container !== removed);
  const inOrder = (await Promise.all(containers.map((id) => docker('inspect', '--format', created, id)))).toSorted();
  const newest = inOrder.at(-1)?.split(' ')[1] ?? '';
  await stack.crash(newest);
  const state = () => docker('inspect', '--format', '{{.RestartCount}} {{.State.Health.Status}}', newest);
  await expect.poll(state).toBe('1 healthy');
}
