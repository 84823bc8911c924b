import { setTimeout as pause } from 'node:timers/promises';
import type { DescService } from '@bufbuild/protobuf';
import { Code, type ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createGrpcClient } from '../../services/client/client.ts';
import { findFreePort } from '../../services/dev/ports.ts';
import { ErrorInfoSchema } from '../../shared/gen/google/rpc/error_details_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { type Balancer, type BalancerKind, balancers, startNameServer } from '../support/balancer.ts';
import { failureOf } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { type Protocol, protocols } from '../support/protocols.ts';
import type { Replica } from '../support/replica.ts';
import { createSlot, expectCaughtUp, openSlot, outcomeOf } from '../support/slot-writes.ts';
import { Stage } from '../support/stage.ts';
import { signToken, withToken } from '../support/tokens.ts';
import { connectCaller, grpcCaller, RollingLoad, retryingCut, underLoad } from './rolling-load.ts';

// Longer than what any proxy waits for unless it is told otherwise.
const silenceMs = 65_000;

/** A balancer before two replicas, which have one port each at an address of their own. */
interface BalancedStage {
  readonly stage: Stage;
  readonly balancer: Balancer;
  readonly replicas: Replica[];
  readonly token: string;
  /** Starts a replica at its address, in the place of the one that was there. */
  start(at: number): Promise<Replica>;
  close(): Promise<void>;
}

async function openBalanced(kind: BalancerKind): Promise<BalancedStage> {
  const network = `127.0.${1 + Math.floor(Math.random() * 254)}`;
  const addresses = [`${network}.1`, `${network}.2`];
  const ports = { grpc: await findFreePort(), web: await findFreePort() };
  const stage = await Stage.open();
  await stage.database.sql(`insert into products (id, name, images) values (1, 'Milk', '{}')`);
  const nameServer = await startNameServer(addresses);
  const balancer = await kind.start({ grpcPort: ports.grpc, webPort: ports.web }, nameServer.port);
  const replicas: Replica[] = [];
  const start = async (at: number) => {
    const env = { BIND_ADDRESS: addresses[at] ?? '', DRAIN_MS: '3000' };
    const replica = await stage.start({ ports, env });
    replicas[at] = replica;
    return replica;
  };
  await Promise.all([start(0), start(1)]);
  const token = await signToken({ staffId: 1 });
  // The balancer checks each port of each replica by itself, and may not have seen all four yet.
  const opened = protocols
    .filter(({ name }) => name === 'gRPC' || name === 'Connect')
    .map(({ open }) => open(balancer));
  const callers = opened.map(({ transport }) => createClient(SlotService, withToken(transport, token)));
  await eventually(async () => {
    await Promise.all(callers.map((slots) => slots.getSlots({})));
    const seen = replicas.map((replica) => answered(replica, 'grpc') > 0 && answered(replica, 'connect') > 0);
    expect(seen).toEqual([true, true]);
  });
  for (const { close } of opened) close();
  return {
    ...{ stage, balancer, replicas, token, start },
    async close() {
      await balancer.stop();
      nameServer.close();
      await stage.close();
    },
  };
}

/** The number of calls that a replica has answered over a protocol. */
const answered = ({ log }: Replica, name: string) =>
  log.filter(({ msg, protocol }) => msg === 'call' && protocol === name).length;

/** A client by way of the balancer. */
function openSlots({ balancer, token }: BalancedStage, { open }: Protocol) {
  const { transport, close } = open(balancer);
  onTestFinished(close);
  return createClient(SlotService, withToken(transport, token));
}

/** The client of the package by way of the balancer. */
function openGrpc<Service extends DescService>(
  { balancer, token }: BalancedStage,
  service: Service,
  onFinished = onTestFinished,
) {
  const client = createGrpcClient(service, { addresses: [`127.0.0.1:${balancer.grpcPort}`], token });
  onFinished(() => client.close());
  return client;
}

describe.each(balancers)('Behind $name', (kind) => {
  const reason = kind.missing === undefined ? '' : ` (skipped: ${kind.missing})`;

  describe.skipIf(kind.missing)(`with two replicas${reason}`, () => {
    let balanced: BalancedStage;
    beforeAll(async () => {
      balanced = await openBalanced(kind);
    });
    afterAll(() => balanced.close());

    it.each([
      ['gRPC', 'grpc'],
      ['Connect', 'connect'],
      ['gRPC-Web', 'grpc-web'],
    ])('Calls over one connection of %s go to both replicas', async (name, logged) => {
      const before = balanced.replicas.map((replica) => answered(replica, logged));
      const protocol = protocols.find((one) => one.name === name);
      if (protocol === undefined) throw new Error(`there is no ${name}`);
      const slots = openSlots(balanced, protocol);
      for (let n = 1; n <= 20; n += 1) await slots.getSlots({});
      const shares = () => balanced.replicas.map((replica, at) => answered(replica, logged) - (before[at] ?? 0));
      await expect.poll(() => shares().reduce((sum, share) => sum + share, 0)).toBeGreaterThanOrEqual(20);
      // nginx's two processes take turns each for itself.
      for (const share of shares()) expect(share).toBeGreaterThanOrEqual(5);
    });

    it.each(protocols)('An error over $name has its details', async (protocol) => {
      const snippets = Array.from({ length: 50 }, () => ({ name: '', productIds: [] }));
      const request = { ...openSlot(), vendorSnippets: snippets };
      const error = await failureOf(openSlots(balanced, protocol).createSlot(request));
      expect(error.code).toBe(Code.InvalidArgument);
      expect(error.findDetails(ErrorInfoSchema)).toHaveLength(1);
    });

    it.each(protocols.filter(({ name }) => name !== 'Connect GET'))(
      'A request of nearly 4 MiB over $name is answered by the service, and a larger one is refused for good',
      async (protocol) => {
        const slots = openSlots(balanced, protocol);
        const ofMebibytes = (size: number) =>
          failureOf(slots.createSlot({ ...openSlot(), deliveryTime: 'x'.repeat(size * 1_048_576) }));
        const invalid = await ofMebibytes(3.99);
        expect(Code[invalid.code], invalid.rawMessage).toBe('InvalidArgument');
        for (const size of [4.5, 6, 12]) {
          const refused = await ofMebibytes(size);
          // nginx has no answer of gRPC-Web.
          const codes = protocol.name === 'gRPC-Web' ? ['ResourceExhausted', 'Unknown'] : ['ResourceExhausted'];
          expect(codes, `${size} MiB: ${refused.rawMessage}`).toContain(Code[refused.code]);
        }
      },
    );

    it('A hundred and fifty streams over one connection leave room for calls, and get the change', async () => {
      const stores = openGrpc(balanced, SlotStoreService);
      const leaving = new AbortController();
      const watches = Array.from({ length: 150 }, () =>
        stores.watchStore({}, { signal: leaving.signal })[Symbol.asyncIterator](),
      );
      const first = await Promise.all(watches.map((watch) => watch.next()));
      expect(first.every(({ done }) => done === false)).toBe(true);
      const second = watches.map((watch) => watch.next());
      await createSlot({ slots: openGrpc(balanced, SlotService) });
      expect((await Promise.all(second)).every(({ done }) => done === false)).toBe(true);
      leaving.abort();
    });

    it('A replica that is killed, and one that drains, under load, lose no call and no write', async () => {
      const { stage, balancer, replicas, token, start } = balanced;
      const slots = openGrpc(balanced, SlotService);
      const { slotId } = await createSlot({ slots });
      const name = kind.name;
      const loads = [
        new RollingLoad(`${name}-grpc`, retryingCut(kind.name, grpcCaller(slots, slotId))),
        new RollingLoad(`${name}-connect`, connectCaller([balancer.webPort], token, slotId)),
      ];
      const restartUnderLoad = async (
        at: number,
        end: (replica: Replica | undefined) => Promise<unknown> | undefined,
      ) => {
        await underLoad(loads);
        await Promise.all([end(replicas[at]), underLoad(loads)]);
        await underLoad(loads);
        const restarted = await start(at);
        await expect.poll(() => answered(restarted, 'grpc') > 0 && answered(restarted, 'connect') > 0).toBe(true);
      };
      try {
        await restartUnderLoad(0, (replica) => replica?.kill());
        await restartUnderLoad(1, async (replica) => {
          expect(await replica?.stop()).toBe(0);
          expect(replica?.log.filter(({ level }) => level === 'error')).toEqual([]);
        });
      } finally {
        await Promise.all(loads.map((load) => load.stop()));
      }
      for (const load of loads) expect(load.failures.slice(0, 5)).toEqual([]);
      const written = await stage.database.sql<{ name: string; id: number }>(
        'select snippet_code as name, slot_id as id from vendor_snippets',
      );
      const acknowledged = loads.flatMap((load) => load.acknowledged);
      expect(written.map((row) => row.name).toSorted()).toEqual(acknowledged.toSorted());
      // The stores show the writes of before the restarts.
      const stores = openGrpc(balanced, SlotStoreService);
      await expectCaughtUp({ stores }, [slotId, ...written.map(({ id }) => id)], 20_000);
    });

    it('With both replicas away every protocol has UNAVAILABLE, and one that is back is used', async () => {
      const clients = protocols.map((protocol) => openSlots(balanced, protocol));
      await Promise.all(balanced.replicas.map((replica) => replica.kill()));
      const failures: ConnectError[] = [];
      for (const slots of clients) failures.push(await failureOf(slots.getSlots({})));
      expect(
        failures.map(({ code }) => Code[code]),
        failures.join('; '),
      ).toEqual(clients.map(() => 'Unavailable'));
      await balanced.start(0);
      for (const slots of clients) {
        await expect.poll(() => outcomeOf(slots.getSlots({}))).toBeUndefined();
      }
      await balanced.start(1);
    });
  });
});

it.concurrent.for(balancers)(
  'Behind $name, a stream that is silent for 65 s then gets the change',
  async (kind, context) => {
    context.skip(kind.missing !== undefined, kind.missing);
    const balanced = await openBalanced(kind);
    context.onTestFinished(() => balanced.close());
    const stores = openGrpc(balanced, SlotStoreService, context.onTestFinished);
    const watch = stores.watchStore({})[Symbol.asyncIterator]();
    const before = await watch.next();
    const next = watch.next();
    await pause(silenceMs);
    await createSlot({ slots: openGrpc(balanced, SlotService, context.onTestFinished) });
    const after = await next;
    context.expect(after.value?.version).toBeGreaterThan(before.value?.version ?? Number.NaN);
    await watch.return?.();
  },
);
