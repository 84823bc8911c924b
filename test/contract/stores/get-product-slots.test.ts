import { createClient } from '@connectrpc/connect';
import { expect, it, vi } from 'vitest';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { answerTooLarge, expectError, slotContract } from '../../support/contract.ts';
import { inDays, written } from '../../support/slot-writes.ts';
import { signToken, withToken } from '../../support/tokens.ts';

slotContract('GetProductSlots', (api) => {
  const stores = () => createClient(SlotStoreService, api.transportAs('guest'));
  const create = async (days: number, productIds: number[]) => {
    const times = { deliveryTime: inDays(days), freezeTime: inDays(days - 0.5), productIds };
    let id = 0;
    const headers = await written(async (options) => {
      const { slot } = await api.staff.createSlot(times, options);
      id = slot?.id ?? 0;
    });
    return { id, headers };
  };

  it('Each requested product has its open slots, soonest first', async () => {
    const later = await create(3, [1, 2]);
    await create(1, [2]);
    const sooner = await create(2, [1, 777]);
    const { slots } = await stores().getProductSlots({ productIds: [1, 777, 4711] }, { headers: sooner.headers });
    const ids = Object.fromEntries(Object.entries(slots).map(([id, list]) => [id, list.slots.map((slot) => slot.id)]));
    expect(ids).toEqual({ 1: [sooner.id, later.id], 777: [sooner.id], 4711: [] });
  });

  it('An answer of more than 5,000,000 slots and product ids is refused', async () => {
    const crowd = Array.from({ length: 5_000 }, (_, index) => 10_001 + index);
    const { headers } = await create(5, crowd);
    const { slots } = await stores().getProductSlots({ productIds: crowd.slice(0, 10) }, { headers });
    expect(Object.values(slots).map((list) => list.slots.length)).toEqual(Array(10).fill(1));
    await expectError(stores().getProductSlots({ productIds: crowd.slice(0, 1_000) }), answerTooLarge);
  });

  it('A slot closes when its freeze time passes, without a refresh', async () => {
    const { headers } = await create(6, [13]);
    const token = await signToken({ expiresIn: 30 * 86_400 });
    const client = createClient(SlotStoreService, withToken(api.transportAs('nobody'), token));
    const first = await client.getProductSlots({ productIds: [13] }, { headers });
    expect(first.slots[13]?.slots).toHaveLength(1);
    try {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6 * 86_400_000 });
      const { slots, version } = await client.getProductSlots({ productIds: [13] });
      expect(slots[13]?.slots).toEqual([]);
      expect(version).toBe(first.version);
    } finally {
      vi.useRealTimers();
    }
  });
});
