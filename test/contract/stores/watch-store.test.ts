import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService, type WatchStoreResponse } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { failureOf } from '../../support/contract.ts';
import { protocols } from '../../support/protocols.ts';
import { runService } from '../../support/running-service.ts';
import type { TestService } from '../../support/service.ts';
import { createSlot } from '../../support/slot-writes.ts';

/** The versions that a stream has sent, and its end. */
class Watch {
  readonly versions: number[] = [];
  readonly last: Promise<unknown>;
  ended = false;

  constructor(stream: AsyncIterable<WatchStoreResponse>) {
    this.last = this.#read(stream);
    this.last.catch(() => undefined);
  }

  async #read(stream: AsyncIterable<WatchStoreResponse>): Promise<void> {
    try {
      for await (const { version, refreshedAt } of stream) {
        expect(refreshedAt).toBeDefined();
        this.versions.push(version);
      }
    } finally {
      this.ended = true;
    }
  }
}

/** The codes of the watches that have ended, by the service's log. */
const endedWatches = ({ log }: TestService) =>
  log.filter(({ msg, method }) => msg === 'call' && String(method).endsWith('WatchStore')).map(({ code }) => code);

const capable = protocols.filter(({ name }) => name !== 'Connect GET');

describe.each(capable)('WatchStore over $name', (protocol) => {
  const service = runService('slot', () => ({ storeRefreshDelayMs: 0 }), protocol);
  const slots = createClient(SlotService, service.staff);
  const stores = createClient(SlotStoreService, service.guest);

  const current = async () => (await stores.getStoreStatus({})).version;

  /** Makes a write, waits until the stores cover it, and returns their version. */
  async function refresh(): Promise<number> {
    const { requestId } = await createSlot({ slots });
    return (await stores.getOpenSlots({}, { headers: { 'store-request-id': requestId } })).version;
  }

  it('A watch receives the current version, then each new one', async () => {
    const first = await current();
    const watch = new Watch(stores.watchStore({}));
    await expect.poll(() => watch.versions).toEqual([first]);
    for (let n = 1; n <= 3; n += 1) await refresh();
    await expect.poll(() => watch.versions).toEqual([first, first + 1, first + 2, first + 3]);
    expect(watch.ended).toBe(false);
  });

  it('A watch receives only versions later than after_version', async () => {
    const seen = await refresh();
    const resumed = new Watch(stores.watchStore({ afterVersion: seen - 1 }));
    const upToDate = new Watch(stores.watchStore({ afterVersion: seen }));
    await expect.poll(() => resumed.versions).toEqual([seen]);
    for (let n = 1; n <= 2; n += 1) await refresh();
    await expect.poll(() => upToDate.versions).toEqual([seen + 1, seen + 2]);
    await expect.poll(() => resumed.versions).toEqual([seen, seen + 1, seen + 2]);
  });

  it('A watch that has seen a version which the database does not know receives the current one, then each new one', async () => {
    const seen = await refresh();
    const watch = new Watch(stores.watchStore({ afterVersion: seen + 50 }));
    await expect.poll(() => watch.versions).toEqual([seen]);
    await refresh();
    await expect.poll(() => watch.versions).toEqual([seen, seen + 1]);
  });

  it('Many watches receive the same versions', async () => {
    const first = await current();
    const watches = Array.from({ length: 20 }, () => new Watch(stores.watchStore({})));
    for (const watch of watches) await expect.poll(() => watch.versions).toEqual([first]);
    await refresh();
    for (const watch of watches) await expect.poll(() => watch.versions).toEqual([first, first + 1]);
  });

  it('A watch ends when its client cancels it, also while there is no new version', async () => {
    const client = new AbortController();
    const watch = new Watch(stores.watchStore({}, { signal: client.signal }));
    await expect.poll(() => watch.versions).toHaveLength(1);
    client.abort();
    await expect(watch.last).rejects.toThrow(ConnectError);
    await expect.poll(() => endedWatches(service)).toEqual(['CANCELED']);
    expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('A watch ends at its deadline', async () => {
    const error = await failureOf(new Watch(stores.watchStore({}, { timeoutMs: 300 })).last);
    expect(Code[error.code]).toBe('DeadlineExceeded');
  });

  it('A watch without a credential, or with a malformed store-request-id, is refused', async () => {
    const refused = await failureOf(new Watch(createClient(SlotStoreService, service.nobody).watchStore({})).last);
    expect([Code[refused.code], refused.rawMessage]).toEqual(['Unauthenticated', 'Authentication required']);
    const headers = { 'store-request-id': 'abc' };
    const senseless = await failureOf(new Watch(stores.watchStore({}, { headers })).last);
    expect(Code[senseless.code]).toBe('InvalidArgument');
  });

  it('A watch with a store-request-id begins with a version that covers the write', async () => {
    const before = await current();
    const { requestId } = await createSlot({ slots });
    const watch = new Watch(stores.watchStore({}, { headers: { 'store-request-id': requestId } }));
    await expect.poll(() => watch.versions).toEqual([before + 1]);
  });
});

describe.each(capable)('WatchStore over $name of a service that stops', (protocol) => {
  const service = runService('slot', undefined, protocol);
  const stores = createClient(SlotStoreService, service.guest);

  it('A watch ends as OK when the service stops, which does not wait for its client', async () => {
    const watches = [new Watch(stores.watchStore({})), new Watch(stores.watchStore({ afterVersion: 1_000 }))];
    await expect.poll(() => watches[0]?.versions).toHaveLength(1);
    const start = performance.now();
    await service.restart();
    expect(performance.now() - start).toBeLessThan(3_000);
    for (const watch of watches) await watch.last;
    expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
    expect(endedWatches(service)).toEqual(['OK', 'OK']);
  });
});
