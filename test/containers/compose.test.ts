import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { describeClients } from '../clients/clients.ts';
import { describeInBrowser, launchBrowser } from '../e2e/browser.ts';
import { ConsoleTab } from '../e2e/console/console-tab.ts';
import { underLoad } from '../load/rolling-load.ts';
import { succeed } from '../support/processes.ts';
import { protocols } from '../support/protocols.ts';
import { withToken } from '../support/tokens.ts';
import { describeWithEngine, docker } from './engine.ts';
import { LoadedStack, services } from './loaded-stack.ts';
import { published } from './stack.ts';

describeWithEngine('docker-compose.yml', () => {
  let loaded: LoadedStack;

  beforeAll(async () => {
    loaded = await LoadedStack.up();
  });

  afterAll(() => loaded?.stack.remove());

  describe.each(protocols)('over $name', (protocol) => {
    it(`Both services answer over ${protocol.name} through the published ports`, async () => {
      const [slot, coupon] = [protocol.open(published.slot), protocol.open(published.coupon)];
      onTestFinished(slot.close);
      onTestFinished(coupon.close);
      const slots = createClient(SlotService, withToken(slot.transport, loaded.stack.token));
      expect((await slots.getSlotById({ id: loaded.slotId })).slot?.products).toMatchObject([{ name: 'Milk' }]);
      const coupons = createClient(CouponService, withToken(coupon.transport, loaded.stack.token));
      expect(await coupons.validate({ code: 'none', userId: 1, orderAmount: 1 })).toMatchObject({
        message: 'Coupon not found or invalidated',
      });
    });
  });

  it('Every container is healthy, and none was started before what it needs', async () => {
    const state = '{{.RestartCount}} {{.State.Health.Status}}';
    for (const container of await loaded.stack.containersOf()) {
      expect(await docker('inspect', '--format', state, container)).toBe('0 healthy');
    }
  });

  it('Every container is confined: a read-only file system, no capability but of the stores, and no way to more', async () => {
    const format = '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}}';
    const containers = await loaded.stack.containersOf();
    expect(containers).toHaveLength(8);
    for (const container of containers) {
      expect(await docker('inspect', '--format', format, container)).toBe('true [ALL] [no-new-privileges:true]');
    }
  });

  it.each([...services, 'staff-console'])(
    '%s runs as user 1000 without capabilities, and mounts nothing that it could write',
    async (service) => {
      const [container = ''] = await loaded.stack.containersOf(service);
      const rights = await docker('exec', container, 'node', '-p', `fs.readFileSync('/proc/1/status', 'utf8')`);
      expect(rights).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
      expect(rights).toMatch(/^CapEff:\t0+$/m);
      expect(rights).toMatch(/^NoNewPrivs:\t1$/m);
      expect(await docker('inspect', '--format', '{{.Mounts}} {{.HostConfig.Tmpfs}}', container)).toBe('[] map[]');
      expect(await docker('diff', container)).toBe('');
    },
  );

  it('A container imports users from standard input', async () => {
    const [replica = ''] = await loaded.stack.containersOf('slot-service');
    const program = 'node dist/services/slot-service/import-command/import-main.js users -';
    const command = `printf 'external_id,name\\nc-1,Ravi\\n' | docker exec --interactive ${replica} ${program}`;
    expect(await succeed('sh', ['-c', command])).toBe('users: 1 created, 0 changed, 0 unchanged, 0 refused');
    expect(await loaded.stack.sql('select name from users')).toEqual(['Ravi']);
  });

  describeInBrowser('in Chromium', () => {
    it('Staff open the console at its port, sign in with a token that they paste, and see a slot', async () => {
      const browser = await launchBrowser();
      onTestFinished(() => browser.close());
      const tab = new ConsoleTab(await browser.newPage());
      await tab.page.goto(`http://localhost:${published.console.webPort}/slots/${loaded.slotId}`);
      await tab.field('Token').fill(loaded.stack.token);
      await tab.button('Sign in').click();
      await tab.heading('Delivery sequence').waitFor();
      await tab.page.getByText('Milk').first().waitFor();
      await tab.close();
    });
  });

  describeClients(() => ({ ...published.slot, token: loaded.stack.token }));

  it.each(services)(
    'A replica of %s that is killed under load loses no call and no write, and is back by itself',
    async (service) => {
      const name = `kill-${service}`;
      const [replica = ''] = await loaded.stack.containersOf(service);
      const { failures, acknowledged } = await loaded.workUnderLoad(name, async (loads) => {
        await loaded.stack.crash(replica);
        await underLoad(loads);
        const state = () => docker('inspect', '--format', '{{.RestartCount}} {{.State.Health.Status}}', replica);
        await expect.poll(state).toBe('1 healthy');
        await expect.poll(() => loaded.stack.answers(replica)).toBe(true);
      });
      expect(failures).toEqual([]);
      expect((await loaded.writtenBy(name)).toSorted()).toEqual(acknowledged.toSorted());
      await loaded.expectStoresToHave(name);
    },
  );

  it('After a restart of PostgreSQL under load calls succeed again, no acknowledged write is lost, and the stores catch up', async () => {
    const { acknowledged } = await loaded.workUnderLoad('postgres', async (loads) => {
      await loaded.stack.run('restart', 'postgres');
      const goals = loads.map(({ reads, acknowledged: { length } }) => ({ reads: reads + 20, writes: length + 20 }));
      const reached = () =>
        loads.every(
          (load, n) => load.reads >= (goals[n]?.reads ?? 0) && load.acknowledged.length >= (goals[n]?.writes ?? 0),
        );
      await expect.poll(reached).toBe(true);
    });
    expect(await loaded.writtenBy('postgres')).toEqual(expect.arrayContaining(acknowledged));
    await loaded.expectStoresToHave('postgres');
  });
});
