import { once } from 'node:events';
import type { Socket } from 'node:net';

// Frames by hand, because a client of node:http2 keeps to the rules.

type Headers = Readonly<Record<string, string>>;

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const frameHeadBytes = 9;
const type = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7 };
const endHeaders = 4;
const cancel = Buffer.from([0, 0, 0, 8]);

/** Opens streams over a connection only to reset each at once. Resolves when the server has said GOAWAY. */
export async function flood(socket: Socket, streams: number, headers: Headers): Promise<void> {
  const block = headerBlock(headers);
  const frames: Buffer[] = [];
  for (let id = 1; id < 2 * streams; id += 2) {
    frames.push(frame(type.headers, endHeaders, id, block), frame(type.reset, 0, id, cancel));
  }
  await exchange(socket, frames, type.goaway);
}

/** Sends a request without its end and resets it. Resolves when the server has taken that in. */
export async function sendHalf(socket: Socket, headers: Headers, body: Uint8Array): Promise<void> {
  const frames = [
    frame(type.headers, endHeaders, 1, headerBlock(headers)),
    frame(type.data, 0, 1, body),
    frame(type.reset, 0, 1, cancel),
    frame(type.ping, 0, 0, Buffer.alloc(8)),
  ];
  await exchange(socket, frames, type.ping);
}

async function exchange(socket: Socket, frames: readonly Buffer[], answer: number): Promise<void> {
  const answered = untilFrame(socket, answer);
  // A server that has heard enough closes the connection while this writes.
  socket.on('error', () => socket.destroy());
  socket.write(Buffer.concat([preface, frame(type.settings, 0, 0, Buffer.alloc(0)), ...frames]));
  await answered;
}

async function untilFrame(socket: Socket, kind: number): Promise<void> {
  let received = Buffer.alloc(0);
  const closed = once(socket, 'close');
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= frameHeadBytes) {
        const end = frameHeadBytes + received.readUIntBE(0, 3);
        if (received.length < end) return;
        if (received[3] === kind) resolve();
        received = received.subarray(end);
      }
    });
    void closed.then(() => resolve());
  });
}

function frame(kind: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(kind, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Headers as HPACK writes them without a table. */
function headerBlock(headers: Headers): Buffer {
  const parts = Object.entries(headers).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]);
  return Buffer.concat(parts);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = [Math.min(bytes.length, 127)];
  if (bytes.length >= 127) {
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}
