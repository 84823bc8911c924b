import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { frame, frameType, headerBlock, onFrame, preface } from '../support/http2-frames.ts';

// Load for rounds of a few hundredths of a second, for which h2load starts too slowly: its connections stay
// open between rounds. Requests are bytes made in advance and answers are only counted, so that it costs
// next to nothing beside what it measures.

/** The calls of one row. */
export interface Requests {
  readonly port: number;
  readonly path: string;
  readonly token: string;
  /** Whether each call has an idempotency key of its own; over gRPC only. */
  readonly keyed?: boolean;
  /** JSON over HTTP/1.1, else gRPC. */
  readonly json: boolean;
  /** The body of the next one, with a frame's head for gRPC. */
  body(): Buffer;
  /** Of each answer's body, with its frame's head; one that is shorter has failed. */
  readonly answerBytes: number;
  readonly connections: number;
  /** Calls in flight on each. */
  readonly streams: number;
}

export interface PersistentLoad {
  /** Makes so many calls; resolves with the milliseconds that each took, and rejects when one failed. */
  run(count: number): Promise<readonly number[]>;
  close(): void;
}

/** One connection: sends a request, and tells of each answer how many bytes its body had. */
interface Connection {
  readonly socket: Socket;
  send(body: Buffer): void;
}

export async function openLoad(requests: Requests): Promise<PersistentLoad> {
  const { port, streams, answerBytes } = requests;
  let left = 0;
  let open = 0;
  let took: number[] = [];
  let settle: { resolve(took: readonly number[]): void; reject(error: Error): void } | undefined;
  const fail = (error: Error) => settle?.reject(error);
  const sendOn = (connection: Connection) => {
    if (left === 0) return;
    left -= 1;
    open += 1;
    connection.send(requests.body());
  };
  const openConnection = async (): Promise<Connection> => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    socket.on('error', fail).on('close', () => fail(new Error('a connection was closed')));
    const answered = (bytes: number, begunAt: number) => {
      took.push(performance.now() - begunAt);
      if (bytes < 0.98 * answerBytes) fail(new Error(`a call of ${requests.path} failed`));
      open -= 1;
      sendOn(connection);
      if (open === 0 && left === 0) settle?.resolve(took);
    };
    const connection = requests.json
      ? http1Connection(socket, requests, answered)
      : http2Connection(socket, requests, answered);
    return connection;
  };
  const connections = await Promise.all(Array.from({ length: requests.connections }, openConnection));
  return {
    run: (count) =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        [left, took] = [count, []];
        for (let stream = 0; stream < streams; stream += 1) for (const connection of connections) sendOn(connection);
      }),
    close() {
      settle = undefined;
      for (const { socket } of connections) socket.destroy();
    },
  };
}

const headEnd = Buffer.from('\r\n\r\n');

function http1Connection(
  socket: Socket,
  { path, token }: Requests,
  answered: (bytes: number, begunAt: number) => void,
): Connection {
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\n`;
  let headBytes = Buffer.alloc(0);
  let [size, rest, begunAt] = [0, 0, 0];
  socket.on('data', (chunk) => {
    if (rest > 0) {
      // Without pipelining there is nothing behind an answer.
      rest -= chunk.length;
      if (rest === 0) answered(size, begunAt);
      return;
    }
    headBytes = Buffer.concat([headBytes, chunk]);
    const end = headBytes.indexOf(headEnd);
    if (end === -1) return;
    const text = headBytes.toString('latin1', 0, end);
    size = text.startsWith('HTTP/1.1 200') ? Number(/content-length: (\d+)/i.exec(text)?.[1]) : 0;
    rest = size - (headBytes.length - end - headEnd.length);
    headBytes = Buffer.alloc(0);
    if (rest <= 0) {
      rest = 0;
      answered(size, begunAt);
    }
  });
  return {
    socket,
    send(body) {
      begunAt = performance.now();
      socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
    },
  };
}

const acknowledged = 1;
const endsStream = 1;
const endsHeaders = 4;
const largestWindow = 2 ** 31 - 1;

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function http2Connection(
  socket: Socket,
  { path, token, keyed = false }: Requests,
  answered: (bytes: number, begunAt: number) => void,
): Connection {
  const headers = headerBlock({
    ...{ ':method': 'POST', ':scheme': 'http', ':path': path, ':authority': '127.0.0.1', te: 'trailers' },
    ...{ 'content-type': 'application/grpc', authorization: `Bearer ${token}` },
  });
  socket.write(preface);
  // No window ever closes: SETTINGS_INITIAL_WINDOW_SIZE, and the connection's own.
  socket.write(frame(frameType.settings, 0, 0, Buffer.concat([Buffer.of(0, 4), uint32(largestWindow)])));
  socket.write(frame(frameType.windowUpdate, 0, 0, uint32(2 ** 30)));
  const received = new Map<number, number>();
  const begun = new Map<number, number>();
  let untold = 0;
  onFrame(socket, (type, payload, flags, stream) => {
    if (type === frameType.settings && (flags & acknowledged) === 0) {
      socket.write(frame(frameType.settings, acknowledged, 0, Buffer.alloc(0)));
    } else if (type === frameType.ping && (flags & acknowledged) === 0) {
      socket.write(frame(frameType.ping, acknowledged, 0, payload));
    } else if (type === frameType.data) {
      received.set(stream, (received.get(stream) ?? 0) + payload.length);
      untold += payload.length;
      if (untold > 2 ** 28) {
        socket.write(frame(frameType.windowUpdate, 0, 0, uint32(untold)));
        untold = 0;
      }
    }
    if (![frameType.data, frameType.headers].includes(type) || (flags & endsStream) === 0) return;
    const bytes = received.get(stream) ?? 0;
    received.delete(stream);
    const begunAt = begun.get(stream) ?? 0;
    begun.delete(stream);
    answered(bytes, begunAt);
  });
  let stream = -1;
  return {
    socket,
    send(body) {
      stream += 2;
      begun.set(stream, performance.now());
      const key = keyed ? headerBlock({ 'idempotency-key': randomUUID() }) : Buffer.alloc(0);
      socket.write(
        Buffer.concat([
          frame(frameType.headers, endsHeaders, stream, Buffer.concat([headers, key])),
          frame(frameType.data, endsStream, stream, body),
        ]),
      );
    },
  };
}
