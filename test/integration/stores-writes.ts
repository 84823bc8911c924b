import type { ConnectError } from '@connectrpc/connect';
import { expect } from 'vitest';
import type { Replica } from '../support/replica.ts';
import { eventually } from './stores-stage.ts';

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

/** A slot that takes orders for the next days. */
export const openSlot = (productIds: number[] = []) => ({
  deliveryTime: inDays(3),
  freezeTime: inDays(2),
  productIds,
});

/** A committed write: the slot it made, and the id to read it by. */
export interface Written {
  readonly slotId: number;
  readonly requestId: string;
}

export async function createSlot(replica: Replica, productIds: number[] = []): Promise<Written> {
  let requestId = '';
  const { slot } = await replica.slots.createSlot(openSlot(productIds), {
    onHeader(headers) {
      requestId = headers.get('store-request-id') ?? '';
    },
  });
  if (slot === undefined || requestId === '') throw new Error('the write was not answered whole');
  return { slotId: slot.id, requestId };
}

/** Reads the open slots' ids once the stores cover a write. */
export async function readCovering(replica: Replica, { requestId }: Written, timeoutMs: number): Promise<number[]> {
  const headers = { 'store-request-id': requestId };
  const { slots } = await replica.stores.getOpenSlots({}, { headers, timeoutMs });
  return slots.map(({ id }) => id);
}

export async function openSlotIds(replica: Replica): Promise<number[]> {
  const { slots } = await replica.stores.getOpenSlots({});
  return slots.map(({ id }) => id);
}

/** Waits until the stores show the slots and no request is left. */
export async function expectCaughtUp(replica: Replica, slotIds: readonly number[], timeoutMs: number): Promise<void> {
  await eventually(async () => {
    expect((await replica.stores.getStoreStatus({})).pendingRequests).toBe(0);
    const shown = new Set(await openSlotIds(replica));
    expect(slotIds.filter((id) => !shown.has(id))).toEqual([]);
  }, timeoutMs);
}

/** The error of a call, undefined when it succeeded. */
export function outcomeOf(call: Promise<unknown>): Promise<ConnectError | undefined> {
  return call.then(
    () => undefined,
    (error: ConnectError) => error,
  );
}
