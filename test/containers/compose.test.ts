import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createGrpcClient } from '../../services/client/client.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { describeInBrowser, launchBrowser } from '../e2e/browser.ts';
import { ConsoleTab } from '../e2e/console/console-tab.ts';
import {
  connectCaller,
  couponCaller,
  grpcCaller,
  judged,
  RollingLoad,
  retryingCut,
  underLoad,
} from '../load/rolling-load.ts';
import { eventually } from '../support/eventually.ts';
import { protocols } from '../support/protocols.ts';
import { openSlot } from '../support/slot-writes.ts';
import { withToken } from '../support/tokens.ts';
import { describeWithEngine, docker } from './engine.ts';
import { published, Stack } from './stack.ts';

const services = ['slot-service', 'coupon-service'] as const;

describeWithEngine('docker-compose.yml', () => {
  let stack: Stack;
  let slotId: number;

  beforeAll(async () => {
    stack = await Stack.up();
    await stack.sql(`insert into products (id, name, images) values (1, 'Milk', '{}')`);
    const slots = clientOf(SlotService, 'slot');
    slotId = (await slots.createSlot(openSlot([1]))).slot?.id ?? 0;
    slots.close();
  });

  afterAll(() => stack?.remove());

  /** The client that the documentation gives to other services, at a published port. */
  function clientOf<Service extends typeof SlotService | typeof CouponService>(
    service: Service,
    name: 'slot' | 'coupon',
  ) {
    const addresses = [`localhost:${published[name].grpcPort}`];
    return createGrpcClient(service, { addresses, token: stack.token });
  }

  /** Clients of both services that retry what is unavailable or was cut. Their writes have names that begin so. */
  function startLoads(name: string): RollingLoad[] {
    const slots = clientOf(SlotService, 'slot');
    const coupons = clientOf(CouponService, 'coupon');
    onTestFinished(() => slots.close());
    onTestFinished(() => coupons.close());
    const overGrpc = { ...grpcCaller(slots, slotId), read: () => judged(slots.getSlotById({ id: slotId })) };
    return [
      new RollingLoad(`${name}-grpc`, retryingCut('nginx', overGrpc)),
      new RollingLoad(`${name}-connect`, connectCaller([published.slot.webPort], stack.token, slotId)),
      new RollingLoad(`${name}-coupons`, retryingCut('nginx', couponCaller(coupons))),
    ];
  }

  /** Does the work under load. Resolves with the calls that failed, and the names of the writes that were acknowledged. */
  async function workUnderLoad(name: string, work: (loads: readonly RollingLoad[]) => Promise<void>) {
    const loads = startLoads(name);
    try {
      await underLoad(loads);
      await work(loads);
    } finally {
      await Promise.all(loads.map((load) => load.stop()));
    }
    const sum = (count: (load: RollingLoad) => number) => loads.reduce((total, load) => total + count(load), 0);
    const failures = loads.flatMap((load) => load.failures);
    console.log(
      `${name}: ${sum(({ done }) => done)} calls, ${sum(({ retries }) => retries)} made again, ${failures.length} failed`,
    );
    return { failures, acknowledged: loads.flatMap((load) => load.acknowledged) };
  }

  /** The names of what the writes of a load have left. */
  const writtenBy = (name: string) =>
    stack.sql(
      `select snippet_code from vendor_snippets where snippet_code like '${name}-%'
       union all select coupon_code from coupons where coupon_code like '${name}-%'`,
    );

  /** Waits until the stores of each replica show the slot of each snippet. */
  async function expectStoresToHave(name: string): Promise<void> {
    const ids = await stack.sql(`select slot_id from vendor_snippets where snippet_code like '${name}-%'`);
    for (const replica of await stack.containersOf('slot-service')) {
      await eventually(async () => {
        const shown = new Set(await stack.openSlotIds(replica));
        expect(ids.map(Number).filter((id) => !shown.has(id))).toEqual([]);
      }, 120_000);
    }
  }

  describe.each(protocols)('over $name', (protocol) => {
    it(`Both services answer over ${protocol.name} through the published ports`, async () => {
      const [slot, coupon] = [protocol.open(published.slot), protocol.open(published.coupon)];
      onTestFinished(slot.close);
      onTestFinished(coupon.close);
      const slots = createClient(SlotService, withToken(slot.transport, stack.token));
      expect((await slots.getSlotById({ id: slotId })).slot?.products).toMatchObject([{ name: 'Milk' }]);
      const coupons = createClient(CouponService, withToken(coupon.transport, stack.token));
      expect(await coupons.validate({ code: 'none', userId: 1, orderAmount: 1 })).toMatchObject({
        message: 'Coupon not found or invalidated',
      });
    });
  });

  it('Every container is confined: a read-only file system, no capability but of the stores, and no way to more', async () => {
    const format = '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}}';
    const containers = await stack.containersOf();
    expect(containers).toHaveLength(8);
    for (const container of containers) {
      expect(await docker('inspect', '--format', format, container)).toBe('true [ALL] [no-new-privileges:true]');
    }
  });

  it.each([...services, 'staff-console'])(
    '%s runs as user 1000 without capabilities, and mounts nothing that it could write',
    async (service) => {
      const [container = ''] = await stack.containersOf(service);
      const rights = await docker('exec', container, 'node', '-p', `fs.readFileSync('/proc/1/status', 'utf8')`);
      expect(rights).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
      expect(rights).toMatch(/^CapEff:\t0+$/m);
      expect(rights).toMatch(/^NoNewPrivs:\t1$/m);
      expect(await docker('inspect', '--format', '{{.Mounts}} {{.HostConfig.Tmpfs}}', container)).toBe('[] map[]');
      expect(await docker('diff', container)).toBe('');
    },
  );

  describeInBrowser('in Chromium', () => {
    it('Staff open the console at its port, sign in with a token that they paste, and see a slot', async () => {
      const browser = await launchBrowser();
      onTestFinished(() => browser.close());
      const tab = new ConsoleTab(await browser.newPage());
      await tab.page.goto(`http://localhost:${published.console.webPort}/slots/${slotId}`);
      await tab.field('Token').fill(stack.token);
      await tab.button('Sign in').click();
      await tab.heading(new RegExp(`Slot ${slotId}`)).waitFor();
      await tab.page.getByText('Milk').first().waitFor();
      await tab.close();
    });
  });

  it.each(services)(
    'A replica of %s that is killed under load loses no call and no write, and is back by itself',
    async (service) => {
      const name = `kill-${service}`;
      const [replica = ''] = await stack.containersOf(service);
      const { failures, acknowledged } = await workUnderLoad(name, async (loads) => {
        await stack.crash(replica);
        await underLoad(loads);
        const state = () => docker('inspect', '--format', '{{.RestartCount}} {{.State.Health.Status}}', replica);
        await expect.poll(state).toBe('1 healthy');
        await expect.poll(() => stack.answers(replica)).toBe(true);
      });
      expect(failures).toEqual([]);
      expect((await writtenBy(name)).toSorted()).toEqual(acknowledged.toSorted());
      await expectStoresToHave(name);
    },
  );

  it.each(services)(
    'The containers of %s are replaced one after the other under load, and no call and no write is lost',
    async (service) => {
      const name = `roll-${service}`;
      const before = await stack.containersOf(service);
      const { failures, acknowledged } = await workUnderLoad(name, async (loads) => {
        for (const container of before) {
          await docker('stop', container);
          expect(await docker('inspect', '--format', '{{.State.ExitCode}}', container)).toBe('0');
          await docker('rm', container);
          await stack.refill(service);
          await underLoad(loads);
        }
        for (const container of await stack.containersOf(service)) {
          await expect.poll(() => stack.answers(container)).toBe(true);
        }
      });
      expect(failures).toEqual([]);
      expect((await stack.containersOf(service)).filter((container) => before.includes(container))).toEqual([]);
      expect((await writtenBy(name)).toSorted()).toEqual(acknowledged.toSorted());
      await expectStoresToHave(name);
    },
  );

  it('A restart of Redis under load loses no call and no write, and the stores catch up', async () => {
    const { failures, acknowledged } = await workUnderLoad('redis', async (loads) => {
      await stack.run('restart', 'redis');
      await underLoad(loads);
    });
    expect(failures).toEqual([]);
    expect((await writtenBy('redis')).toSorted()).toEqual(acknowledged.toSorted());
    await expectStoresToHave('redis');
  });

  it('After a restart of PostgreSQL under load calls succeed again, no acknowledged write is lost, and the stores catch up', async () => {
    const { acknowledged } = await workUnderLoad('postgres', async (loads) => {
      await stack.run('restart', 'postgres');
      const goals = loads.map(({ reads, acknowledged: { length } }) => ({ reads: reads + 20, writes: length + 20 }));
      const reached = () =>
        loads.every(
          (load, n) => load.reads >= (goals[n]?.reads ?? 0) && load.acknowledged.length >= (goals[n]?.writes ?? 0),
        );
      await expect.poll(reached).toBe(true);
    });
    expect(await writtenBy('postgres')).toEqual(expect.arrayContaining(acknowledged));
    await expectStoresToHave('postgres');
  });

  it('A container that calls dns:///slot-service:50051 calls each replica, and finds the address of a new one', async () => {
    const [gone = '', kept = ''] = await stack.containersOf('slot-service');
    const caller = await stack.startCaller('dns:///slot-service:50051', 'dns');
    onTestFinished(async () => void (await docker('rm', '--force', caller)));
    for (const replica of [gone, kept]) await expect.poll(() => stack.answers(replica, 'dns')).toBe(true);
    // Beside the others, so that it gets an address that none of them had.
    await stack.refill('slot-service', 3);
    const [added = ''] = (await stack.containersOf('slot-service')).filter((id) => id !== gone && id !== kept);
    await docker('rm', '--force', gone);
    // A client asks DNS at most every 30 s.
    for (const replica of [kept, added]) await expect.poll(() => stack.answers(replica, 'dns')).toBe(true);
  });

  it('What was written is there after docker compose down and up', async () => {
    const count = 'select count(*) from slots';
    const before = await stack.sql(count);
    await stack.run('down');
    await stack.run('up', '--detach', '--wait');
    expect(await stack.sql(count)).toEqual(before);
    const slots = clientOf(SlotService, 'slot');
    onTestFinished(() => slots.close());
    expect((await slots.getSlotById({ id: slotId })).slot?.products).toMatchObject([{ name: 'Milk' }]);
  });
});
