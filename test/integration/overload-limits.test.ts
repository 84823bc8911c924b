import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { expectError, failureOf } from '../support/contract.ts';
import { protocols } from '../support/protocols.ts';
import { withToken } from '../support/replica.ts';
import { lockSlots, startTarget, type Target } from './overload-stage.ts';

const overloaded = {
  code: 'ResourceExhausted',
  message: 'Too many calls at once - please try again later',
  reason: 'OVERLOADED',
} as const;

describe.each(protocols)('With all places taken, a call over $name', (protocol) => {
  let target: Target;
  let connection: ReturnType<typeof protocol.open>;
  beforeAll(async () => {
    target = await startTarget({ MAX_CALLS_IN_FLIGHT: '3', MAX_STREAMS: '2' });
    connection = protocol.open(target.replica.ports);
  });
  afterAll(async () => {
    connection.close();
    await target.stop();
  });
  const client = () => createClient(SlotService, withToken(connection.transport, target.token));
  const whatItGets = async () => (await failureOf(client().getSlots({}, { timeoutMs: 500 }))).rawMessage;

  it('is refused at once, before its credential is looked at, and those in flight complete', async () => {
    const unlock = await lockSlots(target);
    const inFlight = [1, 2, 3].map(() => client().getSlots({}));
    await expect.poll(whatItGets).toBe(overloaded.message);
    await expectError(client().getSlots({}), overloaded);
    const stranger = createClient(SlotService, withToken(connection.transport, 'nobody'));
    await expectError(stranger.getSlots({}), overloaded);
    await unlock();
    await Promise.all(inFlight);
    await client().getSlots({});
    await expect.poll(() => target.replica.logged('calls were refused'), { timeout: 5_000 }).toBeGreaterThan(0);
    expect(target.replica.log.find(({ msg }) => msg === 'calls were refused')).toMatchObject({
      refused: expect.any(Number),
    });
  });

  it.skipIf(protocol.name === 'Connect GET')('is not refused for streams, nor a stream for calls', async () => {
    const stores = createClient(SlotStoreService, withToken(connection.transport, target.token));
    const reader = new AbortController();
    const watch = (signal = reader.signal) => stores.watchStore({}, { signal })[Symbol.asyncIterator]();
    const later = new AbortController();
    const watches = [watch(), watch()];
    for (const open of watches) await open.next();
    await expectError(watch().next(), overloaded);
    await client().getSlots({});
    reader.abort();
    for (const open of watches) await failureOf(open.next());
    const again = () => watch(later.signal).next();
    await expect
      .poll(() =>
        again().then(
          () => 'open',
          () => 'refused',
        ),
      )
      .toBe('open');
    later.abort();
  });
});
