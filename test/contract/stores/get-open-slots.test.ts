import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { expectInvalidField, failureOf, slotContract } from '../../support/contract.ts';
import { inDays, written } from '../../support/slot-writes.ts';

slotContract('GetOpenSlots', (api) => {
  const getOpenSlots = async (headers: Record<string, string> = {}) =>
    createClient(SlotStoreService, api.transportAs('guest')).getOpenSlots({}, { headers });
  const create = (days: number, productIds: number[] = [], freezeTime = inDays(days - 0.5)) => {
    const slot = { deliveryTime: inDays(days), freezeTime, productIds };
    return written((options) => api.staff.createSlot(slot, options));
  };

  it('Open slots are listed soonest first, with their product ids', async () => {
    await create(3, [1, 2]);
    await create(1, [2]);
    const { slots, version, refreshedAt } = await getOpenSlots(await create(2, [1, 777]));
    expect(slots.map(({ productIds }) => productIds)).toEqual([[2], [1, 777], [1, 2]]);
    expect(version).toBeGreaterThan(0);
    expect(refreshedAt).toBeDefined();
  });

  it('A slot whose delivery time has passed is not listed, however late its freeze time is', async () => {
    const before = (await getOpenSlots()).slots.length;
    const wait = await create(-4, [9], inDays(180));
    expect((await getOpenSlots(wait)).slots).toHaveLength(before);
  });

  it('Slots that are inactive, full or past their freeze time are not listed', async () => {
    const before = (await getOpenSlots()).slots.length;
    await create(5, [9], inDays(-0.1));
    const { slot: full } = await api.staff.createSlot({ deliveryTime: inDays(4), freezeTime: inDays(3) });
    const { slot: gone } = await api.staff.createSlot({ deliveryTime: inDays(4), freezeTime: inDays(3) });
    await api.staff.updateSlotCapacity({ slotId: full?.id ?? 0, isCapacityFull: true });
    const wait = await written((options) => api.staff.deleteSlot({ id: gone?.id ?? 0 }, options));
    expect((await getOpenSlots(wait)).slots).toHaveLength(before);
    const reset = { slotId: full?.id ?? 0, isCapacityFull: false };
    const reopened = await written((options) => api.staff.updateSlotCapacity(reset, options));
    expect((await getOpenSlots(reopened)).slots).toHaveLength(before + 1);
  });

  it('A malformed store-request-id is refused', async () => {
    for (const id of ['abc', '-1', '1.5', '0', '99999999999999999999', '999999999999']) {
      await expectInvalidField(getOpenSlots({ 'store-request-id': id }), 'store-request-id');
    }
  });

  it('A read that waits for a write ends at its deadline', async () => {
    const headers = await create(8);
    const stores = createClient(SlotStoreService, api.transportAs('guest'));
    const error = await failureOf(stores.getOpenSlots({}, { headers, timeoutMs: 20 }));
    expect(error.code).toBe(4);
  });
});
