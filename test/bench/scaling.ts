import { create } from '@bufbuild/protobuf';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { numbers } from './calls-requests.ts';
import { grpcSide, type Intensity, type Side, type Stage } from './calls-sides.ts';
import type { Sample } from './load.ts';
import { busyTime, type MeasuredServer, serverTime } from './servers.ts';

/** One process of a service against two on the same port, with two cores for all of it. */
export interface Scaling {
  readonly name: string;
  readonly one: readonly Sample[];
  readonly two: readonly Sample[];
  /** The share of both cores' time that was not the service's, with two processes. */
  readonly loadShare: number;
}

// Enough connections that each process gets its share, and enough calls that none of them waits.
const intensity: Intensity = { connections: 8, streams: 8, cores: '0,1' };
const { getDeliverySequence } = SlotService.method;
const { getProductSlots } = SlotStoreService.method;

/** Measures both in turns, with calls that cost the database nothing. */
export async function measureScaling(stage: Stage, rounds: number, seconds: number): Promise<Scaling[]> {
  const servers = [await stage.startSlotService(1), await stage.startSlotService(2)] as const;
  const sidesOf = async (make: (server: MeasuredServer) => Promise<Side>) =>
    [await make(servers[0]), await make(servers[1])] as const;
  // So many ids, most of no product, that the answer is put together anew for each call.
  const productIds = [...numbers(10), ...numbers(40).map((n) => 1_000_000 + n)];
  const products = create(getProductSlots.input, { productIds });
  const sequence = create(getDeliverySequence.input, { id: '7' });
  try {
    return [
      await measure(
        'GetProductSlots of 10 products, not cached',
        await sidesOf((server) => grpcSide(stage, server, getProductSlots, [products], intensity)),
        { rounds, seconds },
      ),
      await measure(
        'GetDeliverySequence, cached',
        await sidesOf((server) => grpcSide(stage, server, getDeliverySequence, [sequence], intensity)),
        { rounds, seconds },
      ),
    ];
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function measure(
  name: string,
  [one, two]: readonly [Side, Side],
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Scaling> {
  const { perSecond } = await one.load(one.inFlight * 4);
  const count = Math.max(one.inFlight, Math.round(perSecond * seconds));
  await one.load(count);
  await two.load(count);
  const samples: { one: Sample[]; two: Sample[] } = { one: [], two: [] };
  let [busy, served] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    samples.one.push(await one.load(count));
    const before = await times(two.server);
    samples.two.push(await two.load(count));
    const after = await times(two.server);
    busy += after.busy - before.busy;
    served += after.served - before.served;
  }
  return { name, ...samples, loadShare: 1 - served / busy };
}

async function times(server: MeasuredServer): Promise<{ busy: number; served: number }> {
  return { busy: await busyTime('cpu'), served: await serverTime(server) };
}
