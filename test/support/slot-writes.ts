import type { CallOptions, ConnectError } from '@connectrpc/connect';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import type { Replica } from './replica.ts';

/** A time so many days from now, as a request writes it. */
export const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

/** A slot that takes orders for two more days. */
export const openSlot = (productIds: number[] = []) => ({ deliveryTime: inDays(3), freezeTime: inDays(2), productIds });

/** A committed write: the id of the new slot, and the id to read it by. */
export interface Written {
  readonly slotId: number;
  readonly requestId: string;
}

type Slots = Pick<Replica, 'slots'>;
type Stores = Pick<Replica, 'stores'>;

/** Makes a write. Returns the id that its answer gives to read it by; undefined when it gives none. */
export async function requestIdOf(write: (options: CallOptions) => Promise<unknown>): Promise<string | undefined> {
  let id: string | undefined;
  await write({
    onHeader(headers) {
      id = headers.get('store-request-id') ?? undefined;
    },
  });
  return id;
}

/** Makes a write. Returns the headers with which a read waits until the stores cover it. */
export async function written(
  write: (options: CallOptions) => Promise<unknown>,
): Promise<{ 'store-request-id': string }> {
  const id = await requestIdOf(write);
  if (id === undefined) throw new Error('the write has no store-request-id');
  return { 'store-request-id': id };
}

export async function createSlot({ slots }: Slots, productIds: number[] = []): Promise<Written> {
  let slotId: number | undefined;
  const requestId = await requestIdOf(async (options) => {
    slotId = (await slots.createSlot(openSlot(productIds), options)).slot?.id;
  });
  if (slotId === undefined || requestId === undefined) throw new Error('the write was not answered whole');
  return { slotId, requestId };
}

/** Reads the ids of the open slots once the stores cover a write. */
export async function readCovering({ stores }: Stores, { requestId }: Written, timeoutMs: number): Promise<number[]> {
  const headers = { 'store-request-id': requestId };
  const { slots } = await stores.getOpenSlots({}, { headers, timeoutMs });
  return slots.map(({ id }) => id);
}

export async function openSlotIds({ stores }: Stores): Promise<number[]> {
  const { slots } = await stores.getOpenSlots({});
  return slots.map(({ id }) => id);
}

/** Waits until the stores show the slots and no request is left. */
export async function expectCaughtUp(replica: Stores, slotIds: readonly number[], timeoutMs: number): Promise<void> {
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
