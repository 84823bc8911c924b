import { expect, it, onTestFinished } from 'vitest';
import { createGrpcClient } from '../../services/client/client.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Replica } from '../support/replica.ts';
import { createSlot, expectCaughtUp } from '../support/slot-writes.ts';
import { Stage } from '../support/stage.ts';
import { signToken } from '../support/tokens.ts';
import { connectCaller, grpcCaller, RollingLoad, underLoad } from './rolling-load.ts';

/** Stops a replica and starts it again on its ports, under load before, meanwhile and afterwards. */
async function restart(stage: Stage, replica: Replica, loads: readonly RollingLoad[]) {
  await underLoad(loads);
  const start = performance.now();
  const code = await replica.stop();
  const stopMs = Math.round(performance.now() - start);
  await underLoad(loads);
  const ports = { grpc: replica.ports.grpcPort, web: replica.ports.webPort };
  const restarted = await stage.start({ ports });
  // A client whose connection was refused tries again within 5 s. Until then it calls the other replica alone.
  await expect.poll(() => restarted.log.some(({ msg, protocol }) => msg === 'call' && protocol === 'grpc')).toBe(true);
  await underLoad(loads);
  return { restarted, code, stopMs };
}

it('A rolling restart of two replicas loses no call and no write', async () => {
  const stage = await Stage.open();
  onTestFinished(() => stage.close());
  await stage.database.sql(`insert into products (id, name, images) values (1, 'Milk', '{}')`);
  const [one, two] = await Promise.all([stage.start(), stage.start()]);
  const { slotId } = await createSlot(one);
  const token = await signToken({ staffId: 1 });
  const addresses = [one, two].map(({ ports }) => `127.0.0.1:${ports.grpcPort}`);
  const slots = createGrpcClient(SlotService, { addresses, token });
  const ports = [one, two].map((replica) => replica.ports.webPort);
  const loads = [
    new RollingLoad('grpc', grpcCaller(slots, slotId)),
    new RollingLoad('connect', connectCaller(ports, token, slotId)),
  ];
  let last = two;
  try {
    for (const replica of [one, two]) {
      const { restarted, code, stopMs } = await restart(stage, replica, loads);
      expect(code).toBe(0);
      expect(stopMs).toBeLessThan(5_000);
      expect(replica.log.filter(({ level }) => level === 'error')).toEqual([]);
      last = restarted;
    }
  } finally {
    await Promise.all(loads.map((load) => load.stop()));
    slots.close();
  }
  for (const load of loads) {
    expect(load.failures.slice(0, 5)).toEqual([]);
  }
  const written = await stage.database.sql<{ name: string; id: number }>(
    'select snippet_code as name, slot_id as id from vendor_snippets',
  );
  const acknowledged = loads.flatMap((load) => load.acknowledged);
  expect(written.map(({ name }) => name).toSorted()).toEqual(acknowledged.toSorted());
  // The stores of a restarted replica show the writes of before the restart.
  await expectCaughtUp(last, [slotId, ...written.map(({ id }) => id)], 20_000);
});
