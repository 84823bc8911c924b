import { getEventListeners } from 'node:events';
import { Code } from '@connectrpc/connect';
import { context, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createGrpcClient } from '../../services/client/client.ts';
import type { Token } from '../../services/client/connect/token.ts';
import { BadRequestSchema, ErrorInfoSchema } from '../../shared/gen/google/rpc/error_details_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { failureOf } from '../support/contract.ts';
import { runService } from '../support/running-service.ts';
import { createSlot, readCovering } from '../support/slot-writes.ts';
import { signToken } from '../support/tokens.ts';

const times = { deliveryTime: '2090-05-01T10:00:00Z', freezeTime: '2090-05-01T06:30:00Z' };

describe('A grpc-js client', () => {
  const service = runService('slot');
  let staff: string;
  beforeAll(async () => {
    staff = await signToken({ staffId: 1 });
  });

  function open<Service extends typeof SlotService | typeof SlotStoreService>(desc: Service, token?: Token) {
    const client = createGrpcClient(desc, { addresses: [`127.0.0.1:${service.grpcPort}`], token });
    onTestFinished(() => client.close());
    return client;
  }

  /** The codes of the WatchStore calls that the service has logged since the last time. */
  const endedWatches = () => {
    const lines = service.log
      .splice(0)
      .filter(({ msg, method }) => msg === 'call' && method === 'slot.v1.SlotStoreService/WatchStore');
    return lines.map(({ code }) => code);
  };

  it('A client sends its token, and asks a token function again for each call', async () => {
    const tokens = [staff, 'expired', await signToken({ staffId: 2 })];
    const slots = open(SlotService, async () => tokens.shift());
    await slots.getSlots({});
    expect(Code[(await failureOf(slots.getSlots({}))).code]).toBe('Unauthenticated');
    await slots.getSlots({});
    expect((await failureOf(slots.getSlots({}))).rawMessage).toBe('Authentication required');
    await open(SlotService, staff).getSlots({});
  });

  it('A client sends the trace context where a trace is recorded', async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    onTestFinished(() => context.disable());
    const spanContext = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: TraceFlags.SAMPLED };
    const slots = open(SlotService, staff);
    await context.with(trace.setSpanContext(ROOT_CONTEXT, spanContext), () => slots.getSlots({}));
    await slots.getSlots({});
    const calls = service.log.filter(({ msg }) => msg === 'call').slice(-2);
    expect(calls.map(({ traceId }) => traceId)).toEqual([spanContext.traceId, undefined]);
  });

  it('The error for a token that is no valid header does not contain the token', async () => {
    const error = await failureOf(open(SlotService, 'a\nsecret').getSlots({}));
    expect(Code[error.code]).toBe('Unauthenticated');
    expect(`${error.stack}${String(error.cause)}`).not.toContain('secret');
  });

  it('A client gets the details and the metadata of an error', async () => {
    const error = await failureOf(open(SlotService, staff).createSlot({ ...times, deliveryTime: 'soon' }));
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: 'INVALID_REQUEST', domain: 'delivery-admin' }]);
    expect(error.findDetails(BadRequestSchema)).toMatchObject([{ fieldViolations: [{ field: 'delivery_time' }] }]);
    expect(error.metadata.get('x-request-id')).toMatch(/./);
  });

  it('A client reads its own write with the header store-request-id', async () => {
    const written = await createSlot({ slots: open(SlotService, staff) });
    expect(await readCovering({ stores: open(SlotStoreService, staff) }, written, 10_000)).toContain(written.slotId);
  });

  it.each([2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY])(
    'A client may wait for %d ms, longer than a timer of Node',
    async (timeoutMs) => {
      await open(SlotService, staff).getSlots({}, { timeoutMs });
      for await (const _version of open(SlotStoreService, staff).watchStore({}, { timeoutMs })) break;
    },
  );

  it('A client that leaves the loop over a stream ends the call', async () => {
    const slots = open(SlotService, staff);
    const versions: number[] = [];
    for await (const { version } of open(SlotStoreService, staff).watchStore({})) {
      versions.push(version);
      if (versions.length === 2) break;
      await slots.createSlot(times);
    }
    expect(versions[1]).toBe((versions[0] ?? 0) + 1);
    await expect.poll(endedWatches).toEqual(['CANCELED']);
  });

  it('A client gets the error of a stream at its first read', async () => {
    const watch = open(SlotStoreService).watchStore({})[Symbol.asyncIterator]();
    expect((await failureOf(watch.next())).rawMessage).toBe('Authentication required');
  });

  it('The signal of a stream ends it', async () => {
    const caller = new AbortController();
    const watch = open(SlotStoreService, staff).watchStore({}, { signal: caller.signal })[Symbol.asyncIterator]();
    await watch.next();
    endedWatches();
    const next = failureOf(watch.next());
    caller.abort();
    expect(Code[(await next).code]).toBe('Canceled');
    await expect.poll(endedWatches).toEqual(['CANCELED']);
    expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
  });

  it('A call that has ended leaves no listener on its signal', async () => {
    const { signal } = new AbortController();
    const stores = open(SlotStoreService, staff);
    await stores.getStoreStatus({}, { signal });
    await failureOf(open(SlotStoreService).getStoreStatus({}, { signal }));
    for await (const _version of stores.watchStore({}, { signal })) break;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('A call on a closed client fails', async () => {
    const slots = open(SlotService, staff);
    await slots.getSlots({});
    slots.close();
    expect((await failureOf(slots.getSlots({}))).rawMessage).toBe('Channel has been shut down');
  });
});
