import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { createGrpcClient } from '../../services/client/client.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { openHalf } from '../support/http2-frames.ts';
import { post } from '../support/post.ts';
import { signToken } from '../support/tokens.ts';
import { expectNoHarm, retries } from './bystander.ts';
import { isServing, startTarget, type Target, type TargetOptions } from './overload-stage.ts';
import { grpcFrame, grpcHeaders, openSession, openSockets } from './overload-wire.ts';

const mebibyte = 1024 * 1024;

const insertSlots = (count: number) => `
  insert into slots (id, delivery_time, freeze_time, delivery_sequence)
    select id, now() + interval '9 days', now() + interval '8 days',
      jsonb_build_object('1', (select jsonb_agg(i) from generate_series(1, 20) i))
    from generate_series(1, ${count}) id`;

/** Slots whose sequences have 2 MB each. */
const insertLargeSequences = (count: number) => `
  insert into slots (id, delivery_time, freeze_time, delivery_sequence)
    select id, now() + interval '9 days', now() + interval '8 days', sequence
    from generate_series(1, ${count}) id, (
      select jsonb_object_agg(u, (select jsonb_agg(100000 + i) from generate_series(1, 1200) i)) as sequence
      from generate_series(1, 200) u
    ) as large`;

describe('A caller that asks for more than its share', { retry: retries }, () => {
  let target: Target;
  afterEach(() => target.stop());

  async function start(options: TargetOptions = {}): Promise<string> {
    target = await startTarget(options);
    return signToken({ subject: 'a caller that asks for much' });
  }

  /** Asserts that another caller is not harmed, that memory is bounded, and that everything is given back. */
  async function attack(
    work: () => Promise<unknown>,
    call = (timeoutMs: number): Promise<unknown> =>
      target.replica.slots.getSlotsProductIds({ slotIds: [1] }, { timeoutMs }),
  ): Promise<void> {
    await expectNoHarm(target.replica, call, work);
    expect(await isServing(target)).toBe(true);
  }

  it('A caller that opens 600 streams leaves streams to another one, who opens and ends them as before', async () => {
    const token = await start();
    const sessions = await Promise.all(Array.from({ length: 7 }, () => openSession(target.grpcPort)));
    const statuses: unknown[] = [];
    // A stream that this client leaves ends at once.
    const stores = createGrpcClient(SlotStoreService, {
      addresses: [`127.0.0.1:${target.grpcPort}`],
      token: target.token,
    });
    onTestFinished(() => stores.close());
    const watch = async (timeoutMs: number) => {
      for await (const _version of stores.watchStore({}, { timeoutMs })) return;
    };
    await attack(async () => {
      for (const session of sessions) {
        for (let count = 0; count < 90; count += 1) {
          const headers = { ...grpcHeaders('', token), ':path': '/slot.v1.SlotStoreService/WatchStore' };
          const stream = session.request(headers);
          stream.on('error', () => undefined);
          stream.on('response', (response) => statuses.push(response['grpc-status'] ?? 'open'));
          stream.resume().end(grpcFrame(Buffer.alloc(0)));
        }
      }
      await expect.poll(() => statuses.length).toBe(630);
    }, watch);
    const open = statuses.filter((status) => status === 'open').length;
    // The other caller's streams leave a little less than half.
    expect(open).toBeGreaterThan(400);
    expect(open).toBeLessThanOrEqual(500);
    for (const session of sessions) session.destroy();
  });

  it('A stream ends when its token does', async () => {
    await start();
    const token = await signToken({ subject: 'a caller', expiresIn: -3 });
    const session = await openSession(target.grpcPort);
    const stream = session.request({ ...grpcHeaders('', token), ':path': '/slot.v1.SlotStoreService/WatchStore' });
    const trailers = new Promise<unknown>((resolve) => stream.once('trailers', (each) => resolve(each['grpc-status'])));
    stream.resume().end(grpcFrame(Buffer.alloc(0)));
    expect(await trailers).toBe('16');
    session.destroy();
  });

  it('A caller that reads 3,000 slots a hundred times at once harms no other one, and is answered', async () => {
    await start({ seed: insertSlots(3_000) });
    const { webPort } = target.replica.ports;
    const staff = await signToken({ staffId: 1, subject: 'a busy colleague' });
    await attack(async () => {
      const answers = await Promise.all(
        Array.from({ length: 100 }, async () => {
          const response = await post(webPort, 'GetSlots', staff, '{}', { 'connect-timeout-ms': '10000' });
          await response.arrayBuffer();
          return response.status;
        }),
      );
      expect(new Set(answers)).toEqual(new Set([200]));
    });
  });

  it('A caller that reads 33 sequences of 2 MB again and again harms no other one', async () => {
    const token = await start({ seed: insertLargeSequences(33) });
    const { webPort } = target.replica.ports;
    await attack(async () => {
      for (let id = 1; id <= 33; id += 1) {
        for (const type of ['application/json', 'application/proto']) {
          const body =
            type === 'application/json'
              ? `{"id":"${id}"}`
              : Buffer.from(`\n${String.fromCharCode(String(id).length)}${id}`);
          const response = await post(webPort, 'GetDeliverySequence', token, body, { 'content-type': type });
          expect(response.status).toBe(200);
          await response.arrayBuffer();
        }
      }
    });
  });

  it.each([
    { name: 'lists in lists', body: '['.repeat(90) + ']'.repeat(90), times: 20_000 },
    { name: 'objects in lists', body: '{"a":{"b":{"c":[{"d":1}]}}}', times: 120_000 },
    { name: 'empty lists', body: '[]', times: 1_100_000 },
  ])('A caller that sends 3 MB of deep JSON again and again harms no other one: $name', async ({ body, times }) => {
    const token = await start({ seed: insertSlots(1) });
    const { webPort } = target.replica.ports;
    const json = `{"id":1,"deliverySequence":[${Array.from({ length: times }, () => body).join()}]}`.slice(
      0,
      3.6 * mebibyte,
    );
    await attack(async () => {
      for (let count = 0; count < 20; count += 1) {
        const response = await post(webPort, 'UpdateDeliverySequence', token, json);
        await response.arrayBuffer();
        expect(response.status).toBe(400);
      }
    });
  });

  it('A caller that half-sends 4,500 requests over gRPC harms no other one', async () => {
    const token = await start();
    const headers = grpcHeaders('GetSlots', token);
    await attack(async () => {
      const sockets = await openSockets(target.grpcPort, 45);
      for (const socket of sockets) {
        openHalf(socket.resume(), 100, headers);
        await pause(60);
      }
      for (const socket of sockets) socket.destroy();
    });
  });
});
