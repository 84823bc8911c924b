import { createClient } from '@connectrpc/connect';
import { expect, it, vi } from 'vitest';
import { DatabaseClock } from '../../../shared/clock/clock.ts';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { expectError, slotContract } from '../../support/contract.ts';
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
    await expectError(stores().getProductSlots({ productIds: crowd.slice(0, 1_000) }), 'ANSWER_TOO_LARGE');
  });

  it.each([
    ['freeze', 13, inDays(6), inDays(5)],
    ['delivery', 14, inDays(5), inDays(300)],
  ])('A slot closes when its %s time passes, without a refresh', async (_which, product, deliveryTime, freezeTime) => {
    const slot = { deliveryTime, freezeTime, productIds: [product] };
    const headers = await written((options) => api.staff.createSlot(slot, options));
    const token = await signToken({ expiresIn: 30 * 86_400 });
    const client = createClient(SlotStoreService, withToken(api.transportAs('nobody'), token));
    const first = await client.getProductSlots({ productIds: [product] }, { headers });
    expect(first.slots[product]?.slots).toHaveLength(1);
    const now = DatabaseClock.prototype.now;
    const clock = vi.spyOn(DatabaseClock.prototype, 'now').mockImplementation(function (this: DatabaseClock) {
      return now.call(this) + 6 * 86_400_000;
    });
    try {
      const { slots, version } = await client.getProductSlots({ productIds: [product] });
      expect(slots[product]?.slots).toEqual([]);
      expect(version).toBe(first.version);
    } finally {
      clock.mockRestore();
    }
  });
});
