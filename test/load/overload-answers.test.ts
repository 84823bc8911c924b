import { once } from 'node:events';
import { constants } from 'node:http2';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { post } from '../support/post.ts';
import {
  connectionsTo,
  grpcFrame,
  grpcHeaders,
  insertLargeSequence,
  isServing,
  openSession,
  openSocket,
  startTarget,
  type Target,
  toMiB,
  untilClosed,
} from './overload-stage.ts';

const callers = 120;

/** The request for the delivery sequence of slot 1. */
const slotOne = Buffer.from('\n\x011');

describe('Clients that do not read large responses', () => {
  let target: Target;
  /** What the responses to all clients take. */
  let allMiB: number;
  beforeAll(async () => {
    target = await startTarget();
    await insertLargeSequence(target, { users: 400, products: 2_000 });
    const type = { 'content-type': 'application/proto' };
    const response = await post(target.replica.ports.webPort, 'GetDeliverySequence', target.token, slotOne, type);
    allMiB = toMiB(callers * (await response.arrayBuffer()).byteLength);
  });
  beforeEach(() => target.measureGrowth());
  afterAll(() => target.stop());

  it('A gRPC stream is reset when too many bytes of responses are unread', async () => {
    const session = await openSession(target.replica.ports.grpcPort, { initialWindowSize: 0 });
    const codes: number[] = [];
    for (let call = 0; call < callers && codes.length === 0; call += 1) {
      const stream = session.request(grpcHeaders('GetDeliverySequence', target.token));
      stream.on('error', () => undefined);
      stream.once('close', () => codes.push(stream.rstCode ?? 0));
      stream.end(grpcFrame(slotOne));
      await Promise.race([once(stream, 'response'), untilClosed(stream)]);
    }
    await expect.poll(() => codes[0]).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
    expect(await isServing(target)).toBe(true);
    expect(await target.grown()).toBeLessThan(allMiB / 2);
  });

  it('A connection to the web port is closed when too many bytes of responses are unread', async () => {
    const { webPort } = target.replica.ports;
    const sockets = [];
    for (let caller = 0; caller < callers; caller += 1) {
      const socket = await openSocket(webPort);
      socket.write(
        `POST /slot.v1.SlotService/GetDeliverySequence HTTP/1.1\r\nhost: x\r\ncontent-type: application/proto\r\n` +
          `authorization: Bearer ${target.token}\r\ncontent-length: 3\r\n\r\n${slotOne}`,
      );
      await once(socket, 'readable');
      sockets.push(socket);
    }
    // A client sees the end of its connection only once it reads: the connections of the service are counted.
    await expect.poll(() => connectionsTo(webPort)).toBeLessThan(callers);
    for (const socket of sockets) socket.destroy();
    expect(await isServing(target)).toBe(true);
    expect(await target.grown()).toBeLessThan(allMiB / 2);
  });
});
