import { type Client, Code, ConnectError, createClient } from '@connectrpc/connect';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService, type WatchStoreResponse } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { failureOf } from '../../support/contract.ts';
import { protocols } from '../../support/protocols.ts';
import { withToken } from '../../support/replica.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { signToken } from '../../support/tokens.ts';

const times = { deliveryTime: '2090-05-01T10:00:00Z', freezeTime: '2090-05-01T06:30:00Z' };

/** What a stream has brought, and how it ended. */
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

describe.each(protocols.filter(({ name }) => name !== 'Connect GET'))('WatchStore over $name', (protocol) => {
  let service: TestService;
  let stopped: boolean;
  let connection: ReturnType<(typeof protocol)['open']>;
  let slots: Client<typeof SlotService>;
  let stores: Client<typeof SlotStoreService>;
  let tokens: { staff: string; guest: string };

  beforeAll(async () => {
    tokens = { staff: await signToken({ staffId: 1 }), guest: await signToken() };
  });

  beforeEach(async () => {
    stopped = false;
    service = await startTestService('slot', () => ({ storeRefreshDelayMs: 0 }));
    connection = protocol.open(service);
    slots = createClient(SlotService, withToken(connection.transport, tokens.staff));
    stores = createClient(SlotStoreService, withToken(connection.transport, tokens.guest));
  });

  afterEach(async () => {
    connection.close();
    if (!stopped) await service.stop(1_000);
  });

  const current = async () => (await stores.getStoreStatus({})).version;

  /** Makes a write, waits until the stores cover it, and gives their version. */
  async function refresh(): Promise<number> {
    let id = '';
    await slots.createSlot(times, {
      onHeader(headers) {
        id = headers.get('store-request-id') ?? '';
      },
    });
    return (await stores.getOpenSlots({}, { headers: { 'store-request-id': id } })).version;
  }

  const calls = () => service.log.filter(({ msg, method }) => msg === 'call' && String(method).endsWith('WatchStore'));

  it('brings the version now, then each new one', async () => {
    const first = await current();
    const watch = new Watch(stores.watchStore({}));
    await expect.poll(() => watch.versions).toEqual([first]);
    for (let n = 1; n <= 3; n += 1) await refresh();
    await expect.poll(() => watch.versions).toEqual([first, first + 1, first + 2, first + 3]);
    expect(watch.ended).toBe(false);
  });

  it('brings only what is later than after_version', async () => {
    const seen = await refresh();
    const resumed = new Watch(stores.watchStore({ afterVersion: seen - 1 }));
    const upToDate = new Watch(stores.watchStore({ afterVersion: seen }));
    const ahead = new Watch(stores.watchStore({ afterVersion: seen + 1 }));
    await expect.poll(() => resumed.versions).toEqual([seen]);
    for (let n = 1; n <= 2; n += 1) await refresh();
    await expect.poll(() => ahead.versions).toEqual([seen + 2]);
    await expect.poll(() => upToDate.versions).toEqual([seen + 1, seen + 2]);
    await expect.poll(() => resumed.versions).toEqual([seen, seen + 1, seen + 2]);
  });

  it('brings to many watchers the same', async () => {
    const first = await current();
    const watches = Array.from({ length: 20 }, () => new Watch(stores.watchStore({})));
    for (const watch of watches) await expect.poll(() => watch.versions).toEqual([first]);
    await refresh();
    for (const watch of watches) await expect.poll(() => watch.versions).toEqual([first, first + 1]);
  });

  it('ends as complete when the service stops, which does not wait for it', async () => {
    const watches = [new Watch(stores.watchStore({})), new Watch(stores.watchStore({ afterVersion: 1_000 }))];
    await expect.poll(() => watches[0]?.versions).toHaveLength(1);
    const start = performance.now();
    stopped = true;
    await service.stop();
    expect(performance.now() - start).toBeLessThan(3_000);
    for (const watch of watches) await watch.last;
    expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
    expect(calls().map(({ code }) => code)).toEqual(['OK', 'OK']);
  });

  it('ends when the caller cancels, also while nothing happens', async () => {
    const caller = new AbortController();
    const watch = new Watch(stores.watchStore({}, { signal: caller.signal }));
    await expect.poll(() => watch.versions).toHaveLength(1);
    caller.abort();
    await expect(watch.last).rejects.toThrow(ConnectError);
    await expect.poll(() => calls().map(({ code }) => code)).toEqual(['CANCELED']);
    expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('ends at its deadline', async () => {
    const error = await failureOf(new Watch(stores.watchStore({}, { timeoutMs: 300 })).last);
    expect(Code[error.code]).toBe('DeadlineExceeded');
  });

  it('refuses a caller without a token, and a request id that makes no sense', async () => {
    const anonymous = createClient(SlotStoreService, connection.transport);
    const refused = await failureOf(new Watch(anonymous.watchStore({})).last);
    expect([Code[refused.code], refused.rawMessage]).toEqual(['Unauthenticated', 'Authentication required']);
    const headers = { 'store-request-id': 'abc' };
    const senseless = await failureOf(new Watch(stores.watchStore({}, { headers })).last);
    expect(Code[senseless.code]).toBe('InvalidArgument');
  });

  it('begins with a version that covers the write of a request id', async () => {
    const before = await current();
    let id = '';
    await slots.createSlot(times, {
      onHeader(headers) {
        id = headers.get('store-request-id') ?? '';
      },
    });
    const watch = new Watch(stores.watchStore({}, { headers: { 'store-request-id': id } }));
    await expect.poll(() => watch.versions).toEqual([before + 1]);
  });
});
