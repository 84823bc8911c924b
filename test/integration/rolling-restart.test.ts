import { describe, it, type TestContext } from 'vitest';
import { createGrpcClient } from '../../shared/client/client.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Replica } from '../support/replica.ts';
import { signToken } from '../support/tokens.ts';
import { connectCaller, grpcCaller, RollingLoad } from './rolling-load.ts';
import { eventually, Stage } from './stores-stage.ts';
import { createSlot, expectCaughtUp } from './stores-writes.ts';

const timeout = 120_000;
const callsBetween = 40;

/** Stops a replica and starts it again on its ports, with calls going on before, meanwhile and after. */
async function restart(stage: Stage, replica: Replica, loads: readonly RollingLoad[], processes: number) {
  await underLoad(loads);
  const start = performance.now();
  const code = await replica.stop();
  const stopMs = Math.round(performance.now() - start);
  await underLoad(loads);
  const ports = { grpc: replica.ports.grpcPort, web: replica.ports.webPort };
  const restarted = await stage.start({ ports, processes });
  // A client that was refused looks again within 5 s; until then it has the other replica alone.
  await eventually(() => {
    const called = restarted.log.some(({ msg, protocol }) => msg === 'call' && protocol === 'grpc');
    if (!called) throw new Error('no client has come back over gRPC');
  });
  await underLoad(loads);
  return { restarted, code, stopMs };
}

/** Waits until a number of calls more has succeeded. */
async function underLoad(loads: readonly RollingLoad[]): Promise<void> {
  for (const load of loads) {
    const goal = load.done + callsBetween;
    await eventually(() => {
      if (load.done < goal && load.failures.length === 0) throw new Error('too few calls have succeeded');
    }, 20_000);
  }
}

async function openStage({ onTestFinished }: TestContext): Promise<Stage> {
  const stage = await Stage.open('PostgreSQL');
  await stage.database.sql(`insert into products (id, name, images) values (1, 'Milk', '{}')`);
  onTestFinished(() => stage.close());
  return stage;
}

describe('A rolling restart of two replicas', () => {
  it('of one process and of two loses no call and no write', { timeout }, async (context) => {
    const { expect } = context;
    const stage = await openStage(context);
    const [one, two] = await Promise.all([stage.start(), stage.start({ processes: 2 })]);
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
      for (const [replica, processes] of [
        [one, 1],
        [two, 2],
      ] as const) {
        const { restarted, code, stopMs } = await restart(stage, replica, loads, processes);
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
    // What was asked for before a stop is in the stores of the replicas that came after it.
    await expectCaughtUp(last, [slotId, ...written.map(({ id }) => id)], 10_000);
  });
});
