import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { Duplex, Transform } from 'node:stream';
import { setImmediate as nextIteration } from 'node:timers/promises';

// Writes frames by hand, because a client of node:http2 obeys the protocol.

type Headers = Readonly<Record<string, string>>;
/** Headers in their order, of which several may have the same name. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const frameHeadBytes = 9;
const largestFrameBytes = 16_384;
export const frameType = {
  ...{ data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, windowUpdate: 8, continuation: 9 },
};
const type = frameType;
const [endStream, endHeaders] = [1, 4];
const cancel = Buffer.from([0, 0, 0, 8]);

/** Opens streams and resets each at once. Resolves when the server has sent GOAWAY. */
export async function flood(socket: Socket, streams: number, headers: Headers): Promise<void> {
  const block = headerBlock(headers);
  const frames: Buffer[] = [];
  for (let id = 1; id < 2 * streams; id += 2) {
    frames.push(frame(type.headers, endHeaders, id, block), frame(type.reset, 0, id, cancel));
  }
  await exchange(socket, frames, type.goaway);
}

/**
 * Sends requests with a body and resets each, as fast as the server reads them, until it closes the connection. Resolves
 * with the number of requests.
 *
 * @param open how many requests stay open meanwhile: with none, a reset comes right behind its request.
 */
export async function resetAll(socket: Socket, headers: Headers, body: Uint8Array, open: number): Promise<number> {
  const block = headerBlock(headers);
  const batch = 50;
  let closed = false;
  const ending = untilFrame(socket, type.goaway).then(() => {
    closed = true;
    socket.destroy();
  });
  begin(socket, []);
  let count = 0;
  while (!closed && socket.writable) {
    const frames: Buffer[] = [];
    for (let left = batch; left > 0; left -= 1, count += 1) {
      const id = 2 * count + 1;
      const end = id - 2 * open;
      frames.push(frame(type.headers, endHeaders, id, block), frame(type.data, endStream, id, body));
      if (end > 0) frames.push(frame(type.reset, 0, end, cancel));
    }
    if (socket.write(Buffer.concat(frames))) await nextIteration();
    else await Promise.race([once(socket, 'drain').catch(() => undefined), ending]);
  }
  return count;
}

/** Sends a request together with its reset. */
export function resetWith(socket: Socket, headers: Headers, code: number): void {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(code);
  begin(socket, [frame(type.headers, endHeaders, 1, headerBlock(headers)), frame(type.reset, 0, 1, payload)]);
}

/** Sends a request without its end and resets it. Resolves when the server has read both. */
export async function sendHalf(socket: Socket, headers: Headers, body: Uint8Array): Promise<void> {
  const frames = [
    frame(type.headers, endHeaders, 1, headerBlock(headers)),
    frame(type.data, 0, 1, body),
    frame(type.reset, 0, 1, cancel),
    frame(type.ping, 0, 0, Buffer.alloc(8)),
  ];
  await exchange(socket, frames, type.ping);
}

/** Connects as a client of node:http2 whose requests have these headers in place of their own: Node would send none twice. */
export function connectWithHeaders(port: number, headers: HeaderList): ClientHttp2Session {
  const block = blockOf(headers);
  const socket = connect(port, '127.0.0.1');
  let left = Buffer.alloc(0);
  let isFirst = true;
  const exchangeHeaders = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left = Buffer.concat([left, chunk]);
      if (isFirst && left.length >= preface.length) {
        this.push(preface);
        left = left.subarray(preface.length);
        isFirst = false;
      }
      while (!isFirst && left.length >= frameHeadBytes) {
        const end = frameHeadBytes + left.readUIntBE(0, 3);
        if (left.length < end) break;
        const [kind, flags] = [left.readUInt8(3), left.readUInt8(4)];
        const own = frame(kind, (flags & endStream) | endHeaders, left.readUInt32BE(5), block);
        this.push(kind === type.headers ? own : left.subarray(0, end));
        left = left.subarray(end);
      }
      done();
    },
  });
  exchangeHeaders.pipe(socket);
  const connection = Duplex.from({ readable: socket, writable: exchangeHeaders });
  return connectHttp2(`http://127.0.0.1:${port}`, { createConnection: () => connection });
}

/** Opens streams whose requests get no body. */
export function openHalf(socket: Socket, streams: number, headers: Headers): void {
  const block = headerBlock(headers);
  begin(
    socket,
    Array.from({ length: streams }, (_, at) => headerFrames(block, 2 * at + 1)),
  );
}

/** Opens a stream with headers of any size. Resolves when the server has sent GOAWAY. */
export async function sendLarge(socket: Socket, headers: Headers): Promise<void> {
  await exchange(socket, [headerFrames(headerBlock(headers))], type.goaway);
}

/**
 * Opens a stream with one header of 4,000 bytes 16,000 times: HPACK writes all but the first in a byte.
 * Resolves when the server has reset it.
 */
export async function sendRepeated(socket: Socket, headers: Headers): Promise<void> {
  const toTheTable = Buffer.concat([Buffer.from([0x40]), text('x-large'), text('x'.repeat(4_000))]);
  const firstOfTheTable = Buffer.alloc(16_000, 0x80 | 62);
  const block = Buffer.concat([headerBlock(headers), toTheTable, firstOfTheTable]);
  await exchange(socket, [headerFrames(block)], type.reset);
}

function headerFrames(block: Buffer, stream = 1): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at < block.length; at += largestFrameBytes) {
    const kind = at === 0 ? type.headers : type.continuation;
    const flags = at + largestFrameBytes < block.length ? 0 : endHeaders;
    frames.push(frame(kind, flags, stream, block.subarray(at, at + largestFrameBytes)));
  }
  return Buffer.concat(frames);
}

/** Calls the listener with the error code of each stream that the server resets. */
export function onReset(socket: Socket, listener: (code: number) => void): void {
  onFrame(socket, (kind, payload) => {
    if (kind === type.reset) listener(payload.readUInt32BE());
  });
}

function begin(socket: Socket, frames: readonly Buffer[]): void {
  // The server may close the connection while this writes.
  socket.on('error', () => socket.destroy());
  socket.write(Buffer.concat([preface, frame(type.settings, 0, 0, Buffer.alloc(0)), ...frames]));
}

async function exchange(socket: Socket, frames: readonly Buffer[], answer: number): Promise<void> {
  const answered = untilFrame(socket, answer);
  begin(socket, frames);
  await answered;
}

async function untilFrame(socket: Socket, kind: number): Promise<void> {
  const closed = once(socket, 'close');
  await new Promise<void>((resolve) => {
    onFrame(socket, (received) => received === kind && resolve());
    closed.then(() => resolve(), resolve);
  });
}

/** Tells of each frame that comes. */
export function onFrame(
  socket: Socket,
  listener: (kind: number, payload: Buffer, flags: number, stream: number) => void,
): void {
  let received: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    while (received.length >= frameHeadBytes) {
      const head = received;
      const end = frameHeadBytes + head.readUIntBE(0, 3);
      if (head.length < end) return;
      received = head.subarray(end);
      listener(head.readUInt8(3), head.subarray(frameHeadBytes, end), head.readUInt8(4), head.readUInt32BE(5));
    }
  });
}

/** A frame. Its head states the payload's length, unless told another one. */
export function frame(
  kind: number,
  flags: number,
  stream: number,
  payload: Uint8Array,
  length = payload.length,
): Buffer {
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUIntBE(length, 0, 3);
  head.writeUInt8(kind, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Headers in HPACK without the use of its table. */
export function headerBlock(headers: Headers): Buffer {
  return blockOf(Object.entries(headers));
}

function blockOf(headers: HeaderList): Buffer {
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
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
