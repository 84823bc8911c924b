import { setTimeout as pause } from 'node:timers/promises';
import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { startDatabaseProxy, startProxy, type TcpProxy, viaPort } from '../support/proxy.ts';
import type { Replica } from '../support/replica.ts';
import { createSlot } from '../support/slot-writes.ts';
import { Stage } from '../support/stage.ts';
import { signToken } from '../support/tokens.ts';
import { type Answered, type Ports, RetryingClient } from './retrying-client.ts';

const callers = 8;
const slots = 2;

/** What a caller does: a change of a slot, which is guarded by the etag that it has just read, or not. */
const step = fc.record({
  slot: fc.nat({ max: slots - 1 }),
  kind: fc.constantFrom('products', 'capacity', 'sequence', 'times'),
  isGuarded: fc.boolean(),
});
/** What happens meanwhile, so many milliseconds after what happened before. */
const event = fc.record({
  kind: fc.constantFrom('kill', 'cut callers', 'cut database'),
  afterMs: fc.nat({ max: 400 }),
});
const schedule = fc.record({
  steps: fc.array(fc.array(step, { minLength: 2, maxLength: 5 }), { minLength: callers, maxLength: callers }),
  events: fc.array(event, { minLength: 2, maxLength: 6 }),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

let changes = 0;

/** Makes a change that no other one makes. */
async function change(client: RetryingClient<typeof SlotService>, id: number, { kind, isGuarded }: Step) {
  changes += 1;
  const n = changes;
  const { slot } = await client.query((api) => api.getSlotById({ id }));
  const etag = isGuarded ? (slot?.etag ?? '') : '';
  const time = new Date(Date.UTC(2030, 0, 1) + n * 60_000).toISOString();
  const answered = await client.mutate((api, options) => {
    switch (kind) {
      case 'products':
        return api.updateSlotProducts({ slotId: id, productIds: [n, n + 1], etag }, options);
      case 'capacity':
        return api.updateSlotCapacity({ slotId: id, isCapacityFull: !slot?.isCapacityFull, etag }, options);
      case 'sequence':
        return api.updateDeliverySequence({ id, deliverySequence: fromJson(ValueSchema, { 1: [n] }), etag }, options);
      case 'times':
        return api.updateSlot({ id, deliveryTime: time, freezeTime: time, productIds: { ids: [n] }, etag }, options);
    }
  });
  return { ...answered, kind, id };
}

it('Any interleaving of eight callers, kills and cut connections leaves each acknowledged change once, with its entry', {
  timeout: 600_000,
}, async () => {
  const stage = await Stage.open();
  onTestFinished(() => stage.close());
  const token = await signToken({ staffId: 1 });
  const databaseProxy = await startDatabaseProxy();
  onTestFinished(() => databaseProxy.cut());
  const env = { DATABASE_DIRECT_URL: stage.database.url };
  const databaseUrl = viaPort(stage.database.url, databaseProxy.port);
  const replicas: [Replica, Replica] = [await stage.start(), await stage.start({ databaseUrl, env })];
  const proxies: TcpProxy[] = [];
  const ports: Ports[] = [];
  for (const replica of replicas) {
    const [grpc, web] = [await startProxy(replica.ports.grpcPort), await startProxy(replica.ports.webPort)];
    proxies.push(grpc, web);
    ports.push({ grpcPort: grpc.port, webPort: web.port });
  }
  onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.cut()))));
  const cut = async (ways: readonly TcpProxy[]) => {
    await Promise.all(ways.map((way) => way.cut()));
    await Promise.all(ways.map((way) => way.mend()));
  };

  async function happen(kind: string): Promise<void> {
    if (kind === 'cut callers') return cut(proxies);
    if (kind === 'cut database') return cut([databaseProxy]);
    const { grpcPort: grpc, webPort: web } = replicas[0].ports;
    await replicas[0].kill();
    replicas[0] = await stage.start({ ports: { grpc, web } });
  }

  await fc.assert(
    fc.asyncProperty(schedule, async ({ steps, events }) => {
      const ids: number[] = [];
      // By the replica whose connections to the database nobody cuts, here and where the slots are judged.
      for (let n = 0; n < slots; n += 1) ids.push((await createSlot(replicas[0])).slotId);
      const clients = steps.map(() => new RetryingClient(SlotService, ports, token));
      const ends: Awaited<ReturnType<typeof change>>[] = [];
      const calling = steps.map(async (own, caller) => {
        for (const each of own) {
          const client = clients[caller];
          if (client !== undefined) ends.push(await change(client, ids[each.slot] ?? 0, each));
        }
      });
      for (const { kind, afterMs } of events) {
        await pause(afterMs);
        await happen(kind);
      }
      await Promise.all(calling);
      for (const client of clients) client.close();
      await judge(ids, ends);
    }),
    { numRuns: 6, endOnFailure: true },
  );

  /** Every change that was acknowledged has one entry, and no other has any; the entries of a slot follow from one another. */
  async function judge(ids: readonly number[], ends: readonly (Answered & { kind: string; id: number })[]) {
    const rows = await stage.database.sql<{ request_id: string; resource_id: number; before: object; after: object }>(
      `select request_id, resource_id, before, after from audit_entries
       where resource_id = any($1) and procedure <> 'slot.v1.SlotService/CreateSlot' order by at, id`,
      [ids],
    );
    const refused = ends.filter(({ error }) => error !== undefined);
    expect(
      refused.filter(
        ({ error }) =>
          error?.rawMessage !== 'The record was changed meanwhile' && error?.rawMessage !== 'Unable to Update Slot',
      ),
    ).toEqual([]);
    const entriesOf = (key: string) => rows.filter((row) => row.request_id === key).length;
    for (const { key } of refused) expect(entriesOf(key)).toBe(0);
    // A capacity that another caller has set the same way meanwhile is no change.
    for (const { key, error, kind } of ends) {
      if (error !== undefined) continue;
      if (kind === 'capacity') expect(entriesOf(key)).toBeLessThanOrEqual(1);
      else expect(entriesOf(key), kind).toBe(1);
    }
    expect(rows).toHaveLength(ends.reduce((sum, { key }) => sum + entriesOf(key), 0));
    for (const id of ids) {
      const state: Record<string, unknown> = {};
      for (const { before, after } of rows.filter((row) => row.resource_id === id)) {
        for (const [field, value] of Object.entries(before)) if (field in state) expect(value).toEqual(state[field]);
        Object.assign(state, after);
      }
      const { slot } = await replicas[0].slots.getSlotById({ id });
      if ('productIds' in state) expect(slot?.productSlots.map(({ productId }) => productId)).toEqual(state.productIds);
      if ('isCapacityFull' in state) expect(slot?.isCapacityFull).toBe(state.isCapacityFull);
    }
  }
});
