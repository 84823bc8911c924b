import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createGrpcClient } from '../../services/client/client.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { eventually } from '../support/eventually.ts';
import { podOf } from '../support/manifests.ts';
import { signToken, testSecret } from '../support/tokens.ts';
import { describeWithEngine, docker } from './engine.ts';
import { type Cluster, Pod } from './pod.ts';

const network = 'delivery-admin-pods-test';
const cluster: Cluster = {
  network,
  secrets: {
    'owner-database-url': 'postgres://admin:owner-password@postgres:5432/delivery_admin',
    'service-database-url': 'postgres://service:service-password@postgres:5432/delivery_admin',
    'auth-jwt-secret': testSecret,
    'redis-url': '',
  },
};

// One after the other, as a release is deployed.
describeWithEngine('The manifests of Kubernetes, without a cluster', () => {
  beforeAll(async () => {
    await remove();
    await docker('build', '--tag', podOf('migrate').container.image ?? '', '.');
    await docker('network', 'create', network);
    const settings = ['POSTGRES_USER=admin', 'POSTGRES_PASSWORD=owner-password', 'POSTGRES_DB=delivery_admin'];
    const postgres = await docker(
      ...['run', '--detach', '--network', network, '--network-alias', 'postgres', '--label', network],
      ...settings.flatMap((setting) => ['--env', setting]),
      'postgres:18',
    );
    const asked = ['pg_isready', '-h', '127.0.0.1', '-U', 'admin', '-d', 'delivery_admin'];
    await eventually(() => docker('exec', postgres, ...asked));
  }, 900_000);

  afterAll(remove);

  /** Starts a pod that ends with the test. */
  async function start(name: string): Promise<Pod> {
    const pod = await Pod.start(name, cluster);
    onTestFinished(() => pod.remove());
    return pod;
  }

  it('A pod that starts before the first migration ends with an error, for Kubernetes to start it again', async () => {
    const pod = await start('coupon-service');
    expect(await pod.ended()).toBe(1);
  });

  it('The Job of the migration makes the schema, and the role of the services', async () => {
    const job = await start('migrate');
    expect({ code: await job.ended(), log: await job.log() }).toEqual({
      code: 0,
      log: expect.stringMatching(/^applied 0001_schema\n[\s\S]*\ngranted to service$/),
    });
  });

  it('The Job of staff adds a staff user, and its log has the id', async () => {
    const job = await start('staff');
    expect({ code: await job.ended(), log: await job.log() }).toEqual({ code: 0, log: '1\tactive\tAsha Menon' });
  });

  it.each(['slot-service', 'coupon-service'] as const)(
    'A pod of %s starts within the tries of its probes, and serves while it drains',
    async (name) => {
      const { startupProbe, readinessProbe, livenessProbe } = podOf(name).container;
      const pod = await start(name);
      expect(await pod.succeeds(startupProbe), await pod.log()).toBe(true);
      expect(await pod.succeeds(readinessProbe)).toBe(true);
      expect(await pod.probe(livenessProbe)).toBe(true);
      const call = await caller(name, pod);
      await call();
      console.log(`${name}: ${await pod.memory()}`);

      const stopped = pod.stop();
      await expect.poll(() => pod.probe(readinessProbe)).toBe(false);
      expect(await pod.probe(livenessProbe)).toBe(true);
      await call();
      await stopped;
      expect(await pod.ended()).toBe(0);
    },
  );

  it('A pod of the console serves its page until its hook has run', async () => {
    const { readinessProbe, livenessProbe } = podOf('staff-console').container;
    const pod = await start('staff-console');
    expect(await pod.succeeds({ ...readinessProbe, failureThreshold: 30 }), await pod.log()).toBe(true);
    expect(await pod.probe(livenessProbe)).toBe(true);
    console.log(`staff-console: ${await pod.memory()}`);
    const stopped = pod.stop();
    expect(await pod.probe(readinessProbe)).toBe(true);
    await stopped;
    expect(await pod.ended()).toBe(0);
  });

  it('A pod is not root, has no rights to gain, and can not write to its file system', async () => {
    const pod = await start('staff-console');
    const status = await pod.exec('node', '-p', 'fs.readFileSync("/proc/self/status", "utf8")');
    expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(status).toMatch(/^CapBnd:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^Seccomp:\t2$/m);
    await expect(pod.exec('node', '-e', 'fs.writeFileSync("/tmp-file", "")')).rejects.toThrow('EROFS');
  });
});

/** A call over gRPC that answers, or fails at once. */
async function caller(name: 'slot-service' | 'coupon-service', pod: Pod): Promise<() => Promise<unknown>> {
  const settings = { addresses: [await pod.addressOf('grpc')], token: await signToken() };
  const client = {
    coupons: createGrpcClient(CouponService, settings),
    stores: createGrpcClient(SlotStoreService, settings),
  };
  onTestFinished(() => client.coupons.close());
  onTestFinished(() => client.stores.close());
  return name === 'coupon-service'
    ? () => client.coupons.validate({ code: 'NONE', userId: 1, orderAmount: 1 })
    : () => client.stores.getStoreStatus({});
}

/** Removes what this run has started, or one that was broken off. */
async function remove(): Promise<void> {
  const containers = await docker('ps', '--all', '--quiet', '--filter', `label=${network}`);
  if (containers !== '') await docker('rm', '--force', '--volumes', ...containers.split('\n'));
  const networks = await docker('network', 'ls', '--quiet', '--filter', `name=${network}`);
  if (networks !== '') await docker('network', 'rm', network);
}
