import { type Client, createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { expectError, expectInvalidField, failureOf, slotContract } from '../../support/contract.ts';

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

slotContract('The derived stores', (api) => {
  const stores = (): Client<typeof SlotStoreService> => createClient(SlotStoreService, api.transportAs('guest'));

  /** Runs a slot write and gives the headers with which a read waits for it. */
  async function written(write: (options: { onHeader(headers: Headers): void }) => Promise<unknown>) {
    let id = '';
    await write({
      onHeader(headers) {
        id = headers.get('store-request-id') ?? '';
      },
    });
    return { headers: { 'store-request-id': id } };
  }

  const open = (days: number, productIds: number[], freezeTime = inDays(days - 0.5)) => {
    const slot = { deliveryTime: inDays(days), freezeTime, productIds };
    return written((options) => api.staff.createSlot(slot, options));
  };

  it('show the open slots, soonest first, to any caller with a token', async () => {
    await open(3, [1, 2]);
    await open(1, [2]);
    const { slots, version, refreshedAt } = await stores().getOpenSlots({}, await open(2, [1, 777]));
    expect(slots.map(({ productIds }) => productIds)).toEqual([[2], [1, 777], [1, 2]]);
    expect(version).toBeGreaterThan(0);
    expect(refreshedAt).toBeDefined();
    const answer = await stores().getProductSlots({ productIds: [1, 777, 4711] });
    const ids = Object.fromEntries(Object.entries(answer.slots).map(([id, list]) => [id, list.slots.map((s) => s.id)]));
    const [, second, third] = slots.map(({ id }) => id);
    expect(ids).toEqual({ 1: [second, third], 777: [second], 4711: [] });
  });

  it('leave out slots that are inactive, full or past their freeze time', async () => {
    const before = (await stores().getOpenSlots({})).slots.length;
    await open(5, [9], inDays(-0.1));
    const { slot: full } = await api.staff.createSlot({ deliveryTime: inDays(4), freezeTime: inDays(3) });
    const { slot: gone } = await api.staff.createSlot({ deliveryTime: inDays(4), freezeTime: inDays(3) });
    await api.staff.updateSlotCapacity({ slotId: full?.id ?? 0, isCapacityFull: true });
    const wait = await written((options) => api.staff.deleteSlot({ id: gone?.id ?? 0 }, options));
    expect((await stores().getOpenSlots({}, wait)).slots).toHaveLength(before);
    const reset = { slotId: full?.id ?? 0, isCapacityFull: false };
    const reopened = await written((options) => api.staff.updateSlotCapacity(reset, options));
    expect((await stores().getOpenSlots({}, reopened)).slots).toHaveLength(before + 1);
  });

  it('close a slot when its freeze time passes, without a refresh', async () => {
    const wait = await open(6, [13], new Date(Date.now() + 1_500).toISOString());
    const first = await stores().getProductSlots({ productIds: [13] }, wait);
    expect(first.slots[13]?.slots).toHaveLength(1);
    const later = () => stores().getProductSlots({ productIds: [13] });
    await expect.poll(async () => (await later()).slots[13]?.slots.length, { timeout: 5_000 }).toBe(0);
    expect((await later()).version).toBe(first.version);
  });

  it('tell their version, and how many writes wait', async () => {
    const { version } = await stores().getStoreStatus({}, await open(7, []));
    const status = await stores().getStoreStatus({});
    expect(status.version).toBeGreaterThanOrEqual(version);
    expect(status.pendingRequests).toBeGreaterThanOrEqual(0);
  });

  it('refuse an id of a write that makes no sense', async () => {
    for (const id of ['abc', '-1', '1.5', '0', '99999999999999999999', '999999999999']) {
      const read = stores().getOpenSlots({}, { headers: { 'store-request-id': id } });
      await expectInvalidField(read, 'store-request-id');
    }
  });

  it('end a wait at its deadline', async () => {
    const wait = await open(8, []);
    const error = await failureOf(stores().getOpenSlots({}, { ...wait, timeoutMs: 20 }));
    expect(error.code).toBe(4);
  });

  it('need a token', async () => {
    const anonymous = createClient(SlotStoreService, api.transportAs('nobody'));
    await expectError(anonymous.getOpenSlots({}), {
      code: 'Unauthenticated',
      message: 'Authentication required',
      reason: 'AUTHENTICATION_REQUIRED',
    });
  });
});
