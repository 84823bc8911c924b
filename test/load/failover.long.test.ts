import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { expect, it, onTestFinished } from 'vitest';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { addCoupon, addSlot, couponMutations, type PreparedMutation, slotMutations } from '../support/mutations.ts';
import { type Fault, noFailover, type PostgresCluster } from '../support/postgres-cluster.ts';
import { signToken } from '../support/tokens.ts';
import { ChaosStage } from './chaos-stage.ts';
import { startCluster } from './cluster.ts';
import { RetryingClient } from './retrying-client.ts';
import { expectTruth } from './slot-truth.ts';

type SlotMutation = PreparedMutation<Client<typeof SlotService>>;

const failovers = 10;
const faults: readonly Fault[] = ['kill', 'freeze', 'stop'];
/** Besides the one of a replica together with the primary. */
const killsPerFailover = 4;
const recoveryLimitMs = 15_000;
// Other work counts against the services: the limit holds on a machine that has little else to do.
const isBusy = () => (loadavg()[0] ?? 0) > 4 * availableParallelism();

/** Has callers read all that is there, each call until it is answered. Returns how often they have. */
async function read(stage: ChaosStage, sql: PostgresCluster['sql'], token: string): Promise<() => number> {
  const [slotId, couponId] = [await addSlot(sql), await addCoupon(sql)];
  const stores = new RetryingClient(SlotStoreService, stage.portsOf('slot'), token);
  onTestFinished(() => stores.close());
  const { slots, coupons } = stage;
  const reads = [
    () => slots.query((api) => api.getSlotById({ id: slotId })),
    () => slots.query((api) => api.getDeliverySequence({ id: String(slotId) })),
    () => stores.query((api) => api.getOpenSlots({})),
    () => stores.query((api) => api.getStoreStatus({})),
    () => coupons.query((api) => api.getById({ id: couponId })),
    () => coupons.query((api) => api.validate({ code: 'NONE', userId: 1, orderAmount: 10 })),
  ];
  let count = 0;
  for (const one of reads) {
    stage.repeat(async () => {
      await one();
      count += 1;
      await pause(20);
    });
  }
  return () => count;
}

/** Has callers replace the sequences of some slots again and again, and read them on every replica. */
async function changeSequences(stage: ChaosStage, sql: PostgresCluster['sql']): Promise<void> {
  for (let left = 4; left > 0; left -= 1) {
    const id = await addSlot(sql);
    let turn = 0;
    stage.repeat(async () => {
      turn += 1;
      const request = { id, deliverySequence: fromJson(ValueSchema, { 1: [turn] }) };
      const call: SlotMutation['call'] = (api, options) => api.updateDeliverySequence(request, options);
      await stage.mutate('UpdateDeliverySequence', { changes: ['slot'], call }, stage.slots);
      // Both replicas of slot-service keep it now, each by both of its ports.
      for (let n = 0; n < 4; n += 1) await stage.slots.query((api) => api.getDeliverySequence({ id: String(id) }));
      await pause(50);
    });
  }
}

/** Prepares a write on each replica. Returns what makes them, and resolves with how long each took until it was answered. */
async function prepareWrites(stage: ChaosStage, sql: PostgresCluster['sql'], token: string) {
  const makers = await Promise.all(
    stage.replicas.map(async ({ ports }, index) => {
      if (index % 2 === 0) {
        const client = new RetryingClient(SlotService, [ports], token);
        onTestFinished(() => client.close());
        const mutation = await slotMutations.UpdateSlotCapacity?.(sql);
        return async () => mutation && stage.mutate('UpdateSlotCapacity', mutation, client);
      }
      const client = new RetryingClient(CouponService, [ports], token);
      onTestFinished(() => client.close());
      const mutation = await couponMutations.Update?.(sql);
      return async () => mutation && stage.mutate('Update', mutation, client);
    }),
  );
  return () => {
    const startedAt = performance.now();
    return Promise.all(
      makers.map(async (make) => {
        await make();
        return performance.now() - startedAt;
      }),
    );
  };
}

describeUnless(noFailover, 'A PostgreSQL that fails over', undefined, () => {
  it('Ten failovers to a synchronous standby and fifty kills of replicas lose no acknowledged mutation and double none', {
    timeout: 1_800_000,
  }, async () => {
    const startedAt = performance.now();
    const { cluster, sql } = await startCluster();
    const stage = await ChaosStage.start(cluster.url, sql);
    onTestFinished(() => stage.stop());
    const token = await signToken({ staffId: 1 });
    stage.load();
    const readCount = await read(stage, sql, token);
    await changeSequences(stage, sql);

    let kills = 0;
    const kill = (meanwhile?: () => Promise<void>) => stage.killReplica(kills++ % stage.replicas.length, meanwhile);
    const outagesMs: number[] = [];
    for (let n = 0; n < failovers; n += 1) {
      await stage.untilProgress();
      const fault = faults[n % faults.length] ?? 'kill';
      const writes = await prepareWrites(stage, sql, token);
      let written: Promise<number[]> = Promise.resolve([]);
      const killed = kills % stage.replicas.length;
      const killing = kill(() => pause(Math.random() * 1_000));
      const promotedMs = await cluster.failOver(fault, () => {
        written = writes();
      });
      const writtenMs = (await written).map(Math.round);
      await killing;
      const [restartedMs] = writtenMs.splice(killed, 1);
      outagesMs.push(...writtenMs);
      console.info(
        `failover ${n + 1}, ${fault}: promoted after ${promotedMs} ms, replicas write after ${writtenMs.join(', ')} ms, ` +
          `and the one that was killed, too, after ${restartedMs} ms`,
      );
      if (!isBusy()) expect(Math.max(...writtenMs) - promotedMs).toBeLessThan(recoveryLimitMs);

      const rejoined = cluster.rejoin().then(() => cluster.waitForStandby());
      for (let left = killsPerFailover; left > 0; left -= 1) {
        await stage.untilProgress();
        await kill();
      }
      await rejoined;
    }
    await stage.endLoad();

    const attempts = stage.acknowledged.reduce((sum, one) => sum + one.attempts, 0);
    const writes = stage.acknowledged.length;
    const failures = Object.fromEntries([...stage.slots.failures, ...stage.coupons.failures]);
    console.info(
      `${failovers} failovers, ${kills} kills, ${writes} writes, ${attempts - writes} attempts made again, ` +
        `${readCount()} reads, longest outage ${Math.max(...outagesMs)} ms; some failures: ${JSON.stringify(failures)}`,
    );
    // UpdateSlot has an error of its own for every failure.
    expect(Object.keys(failures).filter((name) => name === 'Internal INTERNAL')).toEqual([]);
    await expectTruth(
      sql,
      stage.replicas.filter((_, index) => index % 2 === 0),
    );
    await stage.expectAllWrittenOnce();
    console.info(`the test took ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  });
});
