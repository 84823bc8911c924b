import type { ClientHttp2Session } from 'node:http2';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { expectError, failureOf } from '../support/contract.ts';
import { holding, lockSlots, updateCapacityPattern } from '../support/locks.ts';
import { protocols } from '../support/protocols.ts';
import { outcomeOf } from '../support/slot-writes.ts';
import { signToken, withToken } from '../support/tokens.ts';
import { isServing, targetOf } from './overload-stage.ts';
import { grpcFrame, grpcHeaders, openSession, untilClosed } from './overload-wire.ts';

describe.each(protocols)('With five places for calls and four for streams, over $name', (protocol) => {
  const seed = 'insert into slots (id, delivery_time, freeze_time) values (1, now(), now())';
  const env = { MAX_CALLS_IN_FLIGHT: '5', MAX_STREAMS: '4', STORE_REFRESH_DELAY_MS: '3600000' };
  const target = targetOf({ seed, env });
  let connection: ReturnType<typeof protocol.open>;
  let busyToken: string;
  let calmToken: string;
  beforeAll(async () => {
    connection = protocol.open(target());
    busyToken = await signToken({ staffId: 1, subject: 'busy' });
    calmToken = await signToken({ staffId: 1, subject: 'calm' });
  });
  afterAll(() => connection.close());
  const slots = (token: string) => createClient(SlotService, withToken(connection.transport, token));
  const stores = (token: string) => createClient(SlotStoreService, withToken(connection.transport, token));

  it('A caller with its share of places waits behind itself, and another one is served at once', async () => {
    await holding(target().database.url, lockSlots, async (lock) => {
      const inFlight = Array.from({ length: 10 }, () =>
        slots(busyToken).updateSlotCapacity({ slotId: 1, isCapacityFull: true }),
      );
      await lock.untilAwaited(4, updateCapacityPattern);
      await stores(calmToken).getStoreStatus({});
      expect(await lock.waiting(updateCapacityPattern)).toBe(4);
      const late = await failureOf(stores(busyToken).getStoreStatus({}, { timeoutMs: 200 }));
      expect(late.rawMessage).not.toContain('Too many');
      await lock.release();
      await Promise.all(inFlight);
    });
  });

  it('Reads that wait for a version of the stores leave their places to other calls', async () => {
    let requestId = '';
    const onHeader = (headers: Headers) => {
      requestId = headers.get('store-request-id') ?? '';
    };
    await slots(busyToken).updateSlotCapacity({ slotId: 1, isCapacityFull: true }, { onHeader });
    const reader = new AbortController();
    const options = { headers: { 'store-request-id': requestId }, signal: reader.signal };
    const waiting = Array.from({ length: 10 }, () => failureOf(stores(busyToken).getOpenSlots({}, options)));
    await slots(busyToken).getSlots({});
    reader.abort();
    await Promise.all(waiting);
    await slots(busyToken).getSlots({});
  });

  it.skipIf(protocol.name === 'Connect GET')(
    'A caller with its share of streams gets no more, another one does, and calls go on',
    async () => {
      const reader = new AbortController();
      const watch = (token: string) => stores(token).watchStore({}, { signal: reader.signal })[Symbol.asyncIterator]();
      const own = [watch(busyToken), watch(busyToken)];
      for (const open of own) await open.next();
      await expectError(watch(busyToken).next(), {
        code: 'ResourceExhausted',
        message: 'Too many streams at once - please try again later',
        reason: 'TOO_MANY_STREAMS',
      });
      await watch(calmToken).next();
      await slots(busyToken).getSlots({});
      reader.abort();
      for (const open of own) await failureOf(open.next());
      const later = new AbortController();
      const again = () => stores(busyToken).watchStore({}, { signal: later.signal })[Symbol.asyncIterator]().next();
      await expect.poll(() => outcomeOf(again())).toBeUndefined();
      later.abort();
    },
  );
});

describe('The health of a service', () => {
  const target = targetOf();
  const watch = { ':path': '/grpc.health.v1.Health/Watch', authorization: undefined };

  /** Resolves once the stream is answered or closed. */
  const ask = (session: ClientHttp2Session, headers: object): Promise<'open' | 'closed'> => {
    const stream = session.request({ ...grpcHeaders('GetSlots', target().token), ...headers });
    stream.on('error', () => undefined);
    stream.resume().end(grpcFrame(Buffer.alloc(0)));
    return new Promise((resolve) => {
      stream.once('response', () => resolve('open'));
      stream.once('close', () => resolve('closed'));
    });
  };

  it('A stranger watches it ten times on a connection, and the eleventh closes the connection', async () => {
    const session = await openSession(target().grpcPort);
    const watches = Array.from({ length: 10 }, () => ask(session, watch));
    expect(new Set(await Promise.all(watches))).toEqual(new Set(['open']));
    const closed = untilClosed(session);
    await ask(session, watch);
    await closed;
    expect(await isServing(target())).toBe(true);
  });

  it('A caller watches it as often as it likes, on a connection of its calls', async () => {
    const session = await openSession(target().grpcPort);
    await ask(session, {});
    const watches = Array.from({ length: 50 }, () => ask(session, watch));
    expect(new Set(await Promise.all(watches))).toEqual(new Set(['open']));
    session.destroy();
  });
});
