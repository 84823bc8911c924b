import { type CallOptions, type Client, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSlotService } from '../../../services/slot-service/service.ts';
import { SlotPlanService } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { RunningService } from '../../../shared/runtime/start-service.ts';
import { createLogger } from '../../../shared/telemetry/logger.ts';
import { protocols } from '../../support/protocols.ts';
import { runService } from '../../support/running-service.ts';
import { readTestConfig, type TestService } from '../../support/service.ts';
import { requestIdOf, written } from '../../support/slot-writes.ts';
import { signToken, withToken } from '../../support/tokens.ts';

const times = { deliveryTime: '2090-05-01T10:00:00Z', freezeTime: '2090-05-01T06:30:00Z' };
const later = { deliveryTime: '2091-05-01T10:00:00Z', freezeTime: '2091-05-01T06:30:00Z' };

interface Api {
  readonly slots: Client<typeof SlotService>;
  readonly plan: Client<typeof SlotPlanService>;
}
type Write = (api: Api, id: number, options: CallOptions) => Promise<unknown>;

const writes: [string, Write, shown: object | undefined][] = [
  [
    'UpdateSlotProducts',
    ({ slots }, slotId, options) => slots.updateSlotProducts({ slotId, productIds: [7, 8] }, options),
    { productIds: [7, 8] },
  ],
  [
    'UpdateSlot',
    ({ slots }, id, options) => slots.updateSlot({ id, ...later, productIds: { ids: [9] } }, options),
    { deliveryTime: { seconds: BigInt(Date.parse(later.deliveryTime) / 1000) }, productIds: [9] },
  ],
  [
    'UpdateSlotCapacity',
    ({ slots }, slotId, options) => slots.updateSlotCapacity({ slotId, isCapacityFull: true }, options),
    undefined,
  ],
  ['DeleteSlot', ({ slots }, id, options) => slots.deleteSlot({ id }, options), undefined],
  [
    'UpdateSlots',
    ({ plan }, id, options) =>
      plan.updateSlots({ slots: [{ id }], change: { case: 'isActive', value: false } }, options),
    undefined,
  ],
];

/** Starts a second replica on the database of the first. */
function startOther({ database }: TestService): Promise<RunningService> {
  return startSlotService(readTestConfig('slot', { DATABASE_URL: database.url }), createLogger('slot', 'silent'));
}

describe.each(protocols)('Read your write over $name', (protocol) => {
  const writer = runService('slot', undefined, protocol);
  const slots = createClient(SlotService, writer.staff);
  const plan = createClient(SlotPlanService, writer.staff);
  let other: RunningService;
  let far: ReturnType<typeof protocol.open>;
  let stores: Client<typeof SlotStoreService>;

  beforeAll(async () => {
    other = await startOther(writer);
    far = protocol.open(other);
    stores = createClient(SlotStoreService, withToken(far.transport, await signToken()));
  });
  afterAll(async () => {
    far.close();
    await other.stop();
  });

  it('A new slot is read on another replica', async () => {
    const headers = await written((options) => slots.createSlot({ ...times, productIds: [3] }, options));
    const { slots: listed } = await stores.getProductSlots({ productIds: [3] }, { headers, timeoutMs: 10_000 });
    expect(listed[3]?.slots).toHaveLength(1);
  });

  it.each(writes)('A write by %s is read on another replica, by every read', async (_name, write, shown) => {
    const { slot } = await slots.createSlot({ ...times, productIds: [1] });
    const headers = await written((options) => write({ slots, plan }, slot?.id ?? 0, options));
    const options = { headers, timeoutMs: 10_000 };
    const [open, status, byProduct] = await Promise.all([
      stores.getOpenSlots({}, options),
      stores.getStoreStatus({}, options),
      stores.getProductSlots({ productIds: [1, 7, 8, 9] }, options),
    ]);
    const found = open.slots.find(({ id }) => id === slot?.id);
    if (shown === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(shown);
    expect(status.version).toBe(open.version);
    const inLists = Object.entries(byProduct.slots).filter(([, list]) => list.slots.some(({ id }) => id === slot?.id));
    expect(inLists.map(([id]) => Number(id))).toEqual(found?.productIds ?? []);
  });

  it('All copies of CopySlots are read on another replica', async () => {
    const { slot } = await slots.createSlot({ ...times, productIds: [4] });
    const request = { slotIds: [slot?.id ?? 0], shiftDays: 1, repeat: 3 };
    const headers = await written((options) => plan.copySlots(request, options));
    const { slots: listed } = await stores.getProductSlots({ productIds: [4] }, { headers, timeoutMs: 10_000 });
    expect(listed[4]?.slots).toHaveLength(4);
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
