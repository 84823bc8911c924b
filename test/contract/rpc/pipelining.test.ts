import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { create, type DescMessage } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { EncodedResponse, encodeMessage } from '../../../shared/rpc/answers/response.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { RunningServer } from '../../../shared/rpc/implementation.ts';
import { maxRequestBytes, minRequestBytes } from '../../../shared/rpc/limits/limits.ts';
import { serveWeb } from '../../../shared/rpc/web/server.ts';
import { everybody, servedWithoutInterceptors } from '../../support/served.ts';

const path = '/slot.v1.SlotService/GetSlots';
const callOf = (name: string, body = '{}') =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${name}\r\nx-request-id: ${name}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `call-${at}`);

/** A caller alone gets half of them. */
const openRequestsOfACaller = maxRequestBytes / minRequestBytes / 2;

/** A call that runs until it is told to end. */
interface RunningCall {
  readonly call: CallContext;
  end(): void;
}

describe('A connection of the web port with several requests at once', () => {
  let server: RunningServer;
  let running: RunningCall[];
  /** Those that have begun, by their request ids. */
  let begun: string[];
  /** The most that ran at the same time. */
  let most: number;
  /** Whether calls end at once. */
  let isQuick: boolean;
  let sockets: Socket[];

  beforeEach(async () => {
    [running, begun, most, isQuick, sockets] = [[], [], 0, false, []];
    const rpcs = SlotService.methods.map((method) => ({
      method,
      noStaffError: undefined,
      async invoke(_request: unknown, call: CallContext) {
        begun.push(call.requestId);
        const ended = new Promise<void>((resolve) => {
          const one = { call, end: resolve };
          running.push(one);
          most = Math.max(most, running.length);
          call.signal.addEventListener('abort', () => resolve());
        });
        if (isQuick) setImmediate(() => running[0]?.end());
        await ended;
        running = running.filter((one) => one.call !== call);
        const empty = create<DescMessage>(method.output);
        return new EncodedResponse(method.output, 'proto', encodeMessage(method.output, empty));
      },
      // biome-ignore lint/correctness/useYield: no test opens a stream.
      async *stream() {
        throw new Error('no test opens a stream');
      },
    }));
    const served = servedWithoutInterceptors([{ service: SlotService, rpcs }], everybody);
    server = await serveWeb(served, {
      ...{ host: '127.0.0.1', port: 0, corsOrigins: [], certificates: undefined, openApi: Buffer.from('{}') },
      isReady: () => true,
    });
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server.kill();
  });

  /** Sends text on a new connection. Its answers are the request ids and statuses that came back, in their order. */
  async function send(text: string) {
    const socket = connect(server.port, '127.0.0.1');
    sockets.push(socket.on('error', () => undefined));
    let received = '';
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    await once(socket, 'connect');
    socket.write(text);
    return {
      socket,
      answers: () => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status)),
      ids: () => [...received.matchAll(/^x-request-id: (.+?)\r/gm)].map(([, id]) => id),
    };
  }

  it('It has one call at a time, and each is answered in its turn', async () => {
    const names = numbered(20);
    const { ids } = await send(names.map((name) => callOf(name)).join(''));
    for (const [at, name] of names.entries()) {
      await expect.poll(() => running.map(({ call }) => call.requestId)).toEqual([name]);
      expect(begun).toHaveLength(at + 1);
      running[0]?.end();
    }
    await expect.poll(ids).toEqual(names);
    expect(most).toBe(1);
  });

  it('It may have any number of requests, since it is not read on while one waits', async () => {
    isQuick = true;
    // More than a caller may have at once.
    const names = numbered(openRequestsOfACaller + 100);
    const { ids } = await send(names.map((name) => callOf(name)).join(''));
    await expect.poll(ids).toEqual(names);
    expect(most).toBe(1);
  });

  it('A request that waits may have a large body', async () => {
    isQuick = true;
    const names = numbered(6);
    const large = `"${'x'.repeat(1_000_000)}"`;
    const { ids } = await send(names.map((name, at) => callOf(name, at % 2 === 1 ? large : '{}')).join(''));
    await expect.poll(ids).toEqual(names);
  });

  it('Requests for its health wait for their turn, too', async () => {
    const health = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
    const { answers } = await send(`${callOf('first')}${health}`);
    await expect.poll(() => running.length).toBe(1);
    expect(answers()).toEqual([]);
    running[0]?.end();
    await expect.poll(answers).toEqual([200, 200]);
  });

  it('Other connections have their calls meanwhile', async () => {
    await send(callOf('first').repeat(40));
    await expect.poll(() => running.length).toBe(1);
    await send(callOf('other'));
    await expect.poll(() => begun).toEqual(['first', 'other']);
  });

  it('A call is cancelled when its client leaves', async () => {
    const { socket } = await send(callOf('alone'));
    await expect.poll(() => running.length).toBe(1);
    socket.destroy();
    await expect.poll(() => running.length).toBe(0);
  });

  it('Requests that wait when their connection is cut are no calls, and hold no memory of their caller', async () => {
    for (let sent = 0; sent <= openRequestsOfACaller; sent += 100) {
      const { socket } = await send(callOf('caller').repeat(100));
      await expect.poll(() => running.length).toBe(1);
      const [first] = running;
      socket.resetAndDestroy();
      first?.end();
      await expect.poll(() => running.length).toBe(0);
    }
    isQuick = true;
    const { answers } = await send(callOf('caller'));
    await expect.poll(answers).toEqual([200]);
  });

  const hostless = 'GET /healthz HTTP/1.1\r\n\r\n';
  const ofHttp10 = (text: string) => text.replaceAll('HTTP/1.1\r\n', 'HTTP/1.0\r\nconnection: keep-alive\r\n');
  it.each([
    ['that Node refuses', hostless],
    ['that is answered, and another one that Node refuses', callOf('first') + hostless],
    ['of HTTP/1.0 whose answer has no length', ofHttp10('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')],
  ])(
    'Behind a request %s, which closes the connection, no request is left running or holds memory',
    async (_name, text) => {
      for (let sent = 0; sent <= openRequestsOfACaller; sent += 100) {
        const { socket } = await send(text + ofHttp10(callOf('caller')).repeat(100));
        if (text.startsWith('POST')) {
          await expect.poll(() => running.length).toBe(1);
          running[0]?.end();
        }
        await once(socket, 'close');
        await expect.poll(() => running.length).toBe(0);
      }
      isQuick = true;
      const { answers } = await send(callOf('caller'));
      await expect.poll(answers).toEqual([200]);
    },
  );

  it('A request behind one that Node refuses, but whose connection stays, is answered', async () => {
    isQuick = true;
    const { answers } = await send(`GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: x\r\n\r\n${callOf('last')}`);
    await expect.poll(answers).toEqual([417, 200]);
  });

  it('While the server drains, the last response closes the connection', async () => {
    const { ids, socket } = await send(`${callOf('first')}${callOf('last')}`);
    await expect.poll(() => running.length).toBe(1);
    server.drain();
    isQuick = true;
    running[0]?.end();
    await expect.poll(ids).toEqual(['first', 'last']);
    await expect.poll(() => socket.closed).toBe(true);
  });
});
