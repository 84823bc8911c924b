import { type CallOptions, type Client, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSlotService } from '../../../services/slot-service/service.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { type OpenSlot, SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { RunningService } from '../../../shared/runtime/start-service.ts';
import { createLogger } from '../../../shared/telemetry/logger.ts';
import { protocols } from '../../support/protocols.ts';
import { readTestConfig, startTestService, type TestService } from '../../support/service.ts';
import { requestIdOf, written } from '../../support/slot-writes.ts';
import { signToken, withToken } from '../../support/tokens.ts';

const times = { deliveryTime: '2090-05-01T10:00:00Z', freezeTime: '2090-05-01T06:30:00Z' };
const later = { deliveryTime: '2091-05-01T10:00:00Z', freezeTime: '2091-05-01T06:30:00Z' };

type Slots = Client<typeof SlotService>;
type Write = (slots: Slots, slotId: number, options: CallOptions) => Promise<unknown>;
type Expected = (slot: OpenSlot | undefined) => void;

const writes: [string, Write, Expected][] = [
  [
    'UpdateSlotProducts',
    (slots, slotId, options) => slots.updateSlotProducts({ slotId, productIds: [7, 8] }, options),
    (slot) => expect(slot?.productIds).toEqual([7, 8]),
  ],
  [
    'UpdateSlot',
    (slots, id, options) => slots.updateSlot({ id, ...later, productIds: { ids: [9] } }, options),
    (slot) =>
      expect([slot?.deliveryTime?.seconds, slot?.productIds]).toEqual([
        BigInt(Date.parse(later.deliveryTime) / 1000),
        [9],
      ]),
  ],
  [
    'UpdateSlotCapacity',
    (slots, slotId, options) => slots.updateSlotCapacity({ slotId, isCapacityFull: true }, options),
    (slot) => expect(slot).toBeUndefined(),
  ],
  ['DeleteSlot', (slots, id, options) => slots.deleteSlot({ id }, options), (slot) => expect(slot).toBeUndefined()],
];

/** Starts a second replica on the database of the first. */
function startOther({ database }: TestService): Promise<RunningService> {
  return startSlotService(readTestConfig('slot', { DATABASE_URL: database.url }), createLogger('slot', 'silent'));
}

describe.each(protocols)('Read your write over $name', (protocol) => {
  let writer: TestService;
  let other: RunningService;
  let slots: Slots;
  let stores: Client<typeof SlotStoreService>;
  const connections: { close(): void }[] = [];

  beforeAll(async () => {
    writer = await startTestService('slot');
    other = await startOther(writer);
    const [near, far] = [protocol.open(writer), protocol.open(other)];
    connections.push(near, far);
    slots = createClient(SlotService, withToken(near.transport, await signToken({ staffId: 1 })));
    stores = createClient(SlotStoreService, withToken(far.transport, await signToken()));
  });

  afterAll(async () => {
    for (const connection of connections) connection.close();
    await other.stop();
    await writer.stop();
  });

  it('A new slot is read on another replica', async () => {
    const headers = await written((options) => slots.createSlot({ ...times, productIds: [3] }, options));
    const { slots: listed } = await stores.getProductSlots({ productIds: [3] }, { headers, timeoutMs: 10_000 });
    expect(listed[3]?.slots).toHaveLength(1);
  });

  it.each(writes)('A write by %s is read on another replica, by every read', async (_name, write, expected) => {
    const { slot } = await slots.createSlot({ ...times, productIds: [1] });
    const headers = await written((options) => write(slots, slot?.id ?? 0, options));
    const options = { headers, timeoutMs: 10_000 };
    const [open, status, byProduct] = await Promise.all([
      stores.getOpenSlots({}, options),
      stores.getStoreStatus({}, options),
      stores.getProductSlots({ productIds: [1, 7, 8, 9] }, options),
    ]);
    const found = open.slots.find(({ id }) => id === slot?.id);
    expected(found);
    expect(status.version).toBe(open.version);
    const inLists = Object.entries(byProduct.slots).filter(([, list]) => list.slots.some(({ id }) => id === slot?.id));
    expect(inLists.map(([id]) => Number(id))).toEqual(found?.productIds ?? []);
  });

  it('Each of many concurrent writes is read on another replica by its own id', async () => {
    const reads = Array.from({ length: 20 }, async () => {
      let created = 0;
      const headers = await written(async (options) => {
        created = (await slots.createSlot(times, options)).slot?.id ?? 0;
      });
      const { slots: open } = await stores.getOpenSlots({}, { headers, timeoutMs: 10_000 });
      expect(open.map(({ id }) => id)).toContain(created);
    });
    await Promise.all(reads);
  });

  it('A write that schedules no refresh has no store-request-id', async () => {
    const { slot } = await slots.createSlot(times);
    const deliverySequence = { kind: { case: 'nullValue', value: 0 } } as const;
    const update = { id: slot?.id ?? 0, deliverySequence };
    expect(await requestIdOf((options) => slots.updateDeliverySequence(update, options))).toBeUndefined();
  });
});
