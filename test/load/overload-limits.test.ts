import { Code, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { expectError, failureOf } from '../support/contract.ts';
import { holding, lockSlots } from '../support/locks.ts';
import { protocols } from '../support/protocols.ts';
import { withToken } from '../support/tokens.ts';
import { grpcFrame, grpcHeaders, isServing, openSession, startTarget, type Target } from './overload-stage.ts';

const overloaded = {
  code: 'ResourceExhausted',
  message: 'Too many calls at once - please try again later',
  reason: 'OVERLOADED',
} as const;

describe.each(protocols)('With the limits of calls and streams reached, over $name', (protocol) => {
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
  const messageOfNext = async () => (await failureOf(client().getSlots({}, { timeoutMs: 500 }))).rawMessage;

  it('A call beyond the limit is refused at once, before its credential is checked, and those in flight complete', async () => {
    await holding(target.database.url, lockSlots, async (lock) => {
      const inFlight = [1, 2, 3].map(() => client().getSlots({}));
      await expect.poll(messageOfNext).toBe(overloaded.message);
      await expectError(client().getSlots({}), overloaded);
      const stranger = createClient(SlotService, withToken(connection.transport, 'nobody'));
      await expectError(stranger.getSlots({}), overloaded);
      await lock.release();
      await Promise.all(inFlight);
    });
    await client().getSlots({});
    await expect.poll(() => target.replica.logged('calls were refused')).toBeGreaterThan(0);
    expect(target.replica.log.find(({ msg }) => msg === 'calls were refused')).toMatchObject({
      refused: expect.any(Number),
    });
  });

  it.skipIf(protocol.name === 'Connect GET')('The limits of calls and of streams are independent', async () => {
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

it('Health watches beyond 1,000 are refused, and calls go on', async () => {
  const target = await startTarget();
  onTestFinished(() => target.stop());
  const sessions = await Promise.all(Array.from({ length: 12 }, () => openSession(target.replica.ports.grpcPort)));
  const answers: unknown[] = [];
  for (const session of sessions) {
    for (let watch = 0; watch < 90; watch += 1) {
      const headers = { ...grpcHeaders('', 'nobody'), ':path': '/grpc.health.v1.Health/Watch' };
      const stream = session.request(headers);
      stream.on('error', () => undefined);
      stream.once('response', (response) => answers.push(response['grpc-status'] ?? 'open'));
      stream.resume().end(grpcFrame(Buffer.alloc(0)));
    }
  }
  await expect.poll(() => answers).toHaveLength(1_080);
  expect(answers.filter((answer) => answer === 'open')).toHaveLength(1_000);
  expect(answers.filter((answer) => answer === String(Code.ResourceExhausted))).toHaveLength(80);
  expect(await isServing(target)).toBe(true);
  for (const session of sessions) session.destroy();
});
