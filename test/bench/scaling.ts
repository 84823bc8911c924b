import { create } from '@bufbuild/protobuf';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { grpcSide, type Intensity, type Stage } from './calls-sides.ts';
import type { Sample } from './load.ts';
import { busyTime, type MeasuredServer, serverTime } from './servers.ts';

/** One process of a service against two on the same port, with two cores for all of it. */
export interface Scaling {
  readonly one: readonly Sample[];
  readonly two: readonly Sample[];
  /** The share of both cores' time that was not the service's, with two processes. */
  readonly loadShare: number;
}

// Enough connections that each process gets its share, and enough calls that none of them waits.
const intensity: Intensity = { connections: 8, streams: 16, cores: '0,1' };
const { getDeliverySequence } = SlotService.method;

/** Measures both in turns, with a call that costs the database and the load next to nothing. */
export async function measureScaling(stage: Stage, rounds: number, seconds: number): Promise<Scaling> {
  const servers = [await stage.startSlotService(1), await stage.startSlotService(2)] as const;
  try {
    const request = create(getDeliverySequence.input, { id: '7' });
    const [one, two] = [
      await grpcSide(stage, servers[0], getDeliverySequence, request, intensity),
      await grpcSide(stage, servers[1], getDeliverySequence, request, intensity),
    ];
    const count = Math.round((await one.load(10_000)).perSecond * seconds);
    await two.load(count);
    const samples: { one: Sample[]; two: Sample[] } = { one: [], two: [] };
    let [busy, served] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      samples.one.push(await one.load(count));
      const before = await times(servers[1]);
      samples.two.push(await two.load(count));
      const after = await times(servers[1]);
      busy += after.busy - before.busy;
      served += after.served - before.served;
    }
    return { ...samples, loadShare: 1 - served / busy };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function times(server: MeasuredServer): Promise<{ busy: number; served: number }> {
  return { busy: await busyTime('cpu'), served: await serverTime(server) };
}
