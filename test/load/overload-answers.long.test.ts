import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { maxUnreadBytes } from '../../shared/rpc/limits/limits.ts';
import { post } from '../support/post.ts';
import { signToken } from '../support/tokens.ts';
import { besides, expectUnharmed, retries } from './bystander.ts';
import { garbageMiB, insertLargeSequence, isServing, targetOf, toMiB } from './overload-stage.ts';
import { grpcFrame, grpcHeaders, openSession, openSockets, postHead, untilClosed } from './overload-wire.ts';

const calls = 90;

/** The request for the delivery sequence of slot 1. */
const slotOne = Buffer.from('\n\x011');
const proto = { 'content-type': 'application/proto' };

describe('A caller that does not read its large responses', { retry: retries }, () => {
  const target = targetOf();
  let token: string;
  let responseBytes: number;
  beforeAll(async () => {
    await insertLargeSequence(target(), { users: 250, products: 2_000 });
    token = await signToken({ subject: 'a caller that does not read' });
    const response = await post(target().webPort, 'GetDeliverySequence', target().token, slotOne, proto);
    responseBytes = (await response.arrayBuffer()).byteLength;
    // More than its share, which is half of all.
    expect(calls * responseBytes).toBeGreaterThan(maxUnreadBytes);
  });
  beforeEach(() => target().measureGrowth());

  /** Asserts that another caller is not harmed, and that the process holds the share and no more. */
  async function expectBounded(attack: () => Promise<void>): Promise<void> {
    expectUnharmed(await besides((timeoutMs) => target().replica.slots.getSlotsProductIds({}, { timeoutMs }), attack));
    expect(await target().grown()).toBeLessThan(toMiB(maxUnreadBytes / 2 + 2 * responseBytes) + garbageMiB);
  }

  it('Over gRPC it waits for its own responses, and another caller does not', async () => {
    const session = await openSession(target().grpcPort, { initialWindowSize: 0 });
    const statuses: unknown[] = [];
    await expectBounded(async () => {
      const closed = Array.from({ length: calls }, () => {
        const stream = session.request(grpcHeaders('GetDeliverySequence', token));
        stream.on('error', () => undefined);
        for (const event of ['response', 'trailers']) {
          stream.on(event, (headers) => statuses.push(headers['grpc-status'] ?? 'begun'));
        }
        stream.end(grpcFrame(slotOne));
        return untilClosed(stream);
      });
      // Those that may not be sent are refused after 10 s.
      await expect.poll(() => statuses.length).toBe(calls);
      session.destroy();
      await Promise.all(closed);
    });
    const share = maxUnreadBytes / 2 / responseBytes;
    expect(statuses.filter((status) => status === 'begun').length).toBeLessThanOrEqual(share + 1);
    expect(new Set(statuses)).toEqual(new Set(['begun', '8']));
    expect(await isServing(target())).toBe(true);
  });

  it('On the web port it waits for its own responses, and another caller does not', async () => {
    const refusals: string[] = [];
    await expectBounded(async () => {
      const sockets = await openSockets(target().webPort, calls);
      for (const socket of sockets) {
        const headers = { ...proto, authorization: `Bearer ${token}`, 'content-length': 3, connection: 'close' };
        socket.write(postHead('GetDeliverySequence', headers) + slotOne);
      }
      await Promise.all(sockets.map((socket) => once(socket, 'readable')));
      for (const socket of sockets) {
        const first = String(socket.read());
        if (first.startsWith('HTTP/1.1 429')) refusals.push(first + (await text(socket)));
        socket.destroy();
      }
    });
    // Those that waited behind them, until their own time was over, never began.
    expect(refusals.some((refusal) => refusal.includes('TOO_MANY_UNREAD_BYTES'))).toBe(true);
    for (const refusal of refusals) expect(refusal).toMatch(/"reason":"(TOO_MANY_UNREAD_BYTES|OVERLOADED)"/);
    expect(await isServing(target())).toBe(true);
  });
});
