import { gzipSync } from 'node:zlib';
import type { Random } from './random.ts';

/** Bytes with one to four faults. */
export function mutate(bytes: Buffer, random: Random): Buffer {
  let mutated = bytes;
  for (let left = random.int(1, 4); left > 0; left -= 1) mutated = fault(mutated, random);
  return mutated;
}

function fault(bytes: Buffer, random: Random): Buffer {
  const at = random.int(0, bytes.byteLength);
  const before = bytes.subarray(0, at);
  const rest = bytes.subarray(at);
  return random.pick([
    () => Buffer.concat([before, random.bytes(random.int(1, 8)), rest]),
    () => Buffer.concat([before, rest.subarray(random.int(1, 8))]),
    () => before,
    () => Buffer.concat([bytes, rest]),
    () => Buffer.concat([before, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]), rest]),
    () =>
      Buffer.concat([
        before,
        Buffer.from(random.pick(['"', '}', '[', '{"a":', '\\u', '\0', '\ud83d', ',', '9'])),
        rest,
      ]),
    () => flip(bytes, random),
  ])();
}

function flip(bytes: Buffer, random: Random): Buffer {
  const flipped = Buffer.from(bytes);
  for (let left = random.int(1, 6); left > 0 && flipped.byteLength > 0; left -= 1) {
    const at = random.int(0, flipped.byteLength - 1);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << random.int(0, 7));
  }
  return flipped;
}

/** A message behind the five bytes that gRPC, gRPC-Web and the streams of Connect have. */
export function envelope(flags: number, message: Uint8Array, length = message.byteLength): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

interface Enveloped {
  readonly kind: string;
  readonly body: Buffer;
  readonly encoding?: string;
}

export const soundEnvelope = (message: Buffer): Enveloped => ({ kind: 'structured', body: envelope(0, message) });

/** What is sent in place of a well-formed envelope, and its name in the report. */
export function faultyEnvelopes(message: Buffer, random: Random): Enveloped {
  const whole = envelope(0, message);
  return random.pick([
    ...Array(3).fill(() => ({ kind: 'mutated message', body: envelope(0, mutate(message, random)) })),
    () => ({ kind: 'random message', body: envelope(0, random.bytes(random.int(0, 60))) }),
    () => ({ kind: 'mutated envelope', body: mutate(whole, random) }),
    () => ({ kind: 'odd flags', body: envelope(random.pick([1, 2, 3, 4, 0x80, 0xff]), message) }),
    () => ({
      kind: 'wrong length',
      body: envelope(0, message, random.pick([0, 1, message.byteLength + 1, 0x7fffffff, 0xffffffff])),
    }),
    () => ({ kind: 'no body', body: Buffer.alloc(0) }),
    () => ({ kind: 'several envelopes', body: Buffer.concat([whole, whole, envelope(2, Buffer.from('{}'))]) }),
    () => ({ kind: 'trailing bytes', body: Buffer.concat([whole, random.bytes(random.int(1, 9))]) }),
    () => ({ kind: 'gzip', body: envelope(1, gzipSync(message)), encoding: 'gzip' }),
    () => ({ kind: 'gzip', body: envelope(1, faultyGzip(message, random)), encoding: 'gzip' }),
    () => ({
      kind: 'gzip',
      body: envelope(1, gzipSync(message)),
      encoding: random.pick(['br', 'deflate', 'identity', 'snappy', '', 'gzip, gzip']),
    }),
  ])();
}

/** Gzip that is truncated, flipped, doubled or followed by other bytes, or bytes that are no gzip. */
export function faultyGzip(content: Buffer, random: Random): Buffer {
  const packed = gzipSync(content);
  return random.pick([
    () => packed.subarray(0, random.int(0, packed.byteLength - 1)),
    () => flip(packed, random),
    () => gzipSync(packed),
    () => Buffer.concat([packed, random.bytes(10)]),
    () => random.bytes(random.int(0, 40)),
    () => gzipBomb(),
  ])();
}

let bomb: Buffer | undefined;

/** A little over 4 MiB of zeros. */
function gzipBomb(): Buffer {
  bomb ??= gzipSync(Buffer.alloc(4 * 1024 * 1024 + 64));
  return bomb;
}
