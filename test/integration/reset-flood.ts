import { once } from 'node:events';
import type { Socket } from 'node:net';

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const frameHeadBytes = 9;
const type = { headers: 1, reset: 3, settings: 4, goaway: 7 };
const endHeaders = 4;
const cancel = Buffer.from([0, 0, 0, 8]);

/**
 * Opens streams over a connection only to reset each at once, without waiting for anything: frames by
 * hand, because a client of node:http2 keeps to the rules. Resolves when the server has said GOAWAY.
 */
export async function flood(socket: Socket, streams: number, headers: Readonly<Record<string, string>>): Promise<void> {
  const block = Buffer.concat(Object.entries(headers).map(([name, value]) => literal(name, value)));
  const frames = [preface, frame(type.settings, 0, 0, Buffer.alloc(0))];
  for (let id = 1; id < 2 * streams; id += 2) {
    frames.push(frame(type.headers, endHeaders, id, block), frame(type.reset, 0, id, cancel));
  }
  const warned = untilGoaway(socket);
  // A server that has heard enough closes the connection while this writes.
  socket.on('error', () => socket.destroy());
  socket.write(Buffer.concat(frames));
  await warned;
}

async function untilGoaway(socket: Socket): Promise<void> {
  let received = Buffer.alloc(0);
  const closed = once(socket, 'close');
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= frameHeadBytes) {
        const end = frameHeadBytes + received.readUIntBE(0, 3);
        if (received.length < end) return;
        if (received[3] === type.goaway) resolve();
        received = received.subarray(end);
      }
    });
    void closed.then(() => resolve());
  });
}

function frame(kind: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(kind, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header as HPACK writes it without a table. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
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
