import type { WireType } from '@bufbuild/protobuf/wire';

const bufferBytes = 64 * 1024;
const maxKeptBytes = 1024 * 1024;
const maxKept = 8;

/** Buffers of finished writers. A new one costs a page fault for each 4 KiB, more time than to fill it. */
const kept: Buffer[] = [];

/** The bytes that a UTF-16 code unit takes at most in UTF-8. */
const maxPerCharacter = 3;

/**
 * Writes into a buffer that grows. protobuf-es allocates for each nested message, which makes lists slower to encode
 * (docs/performance.md).
 */
export class ByteWriter {
  protected buffer = kept.pop() ?? Buffer.allocUnsafeSlow(bufferBytes);
  /** Where the next byte goes. */
  protected end = 0;
  /** What was written before what is in the buffer. */
  readonly #flushed: Buffer[] = [];
  #flushedLength = 0;

  /** The number of bytes written. */
  get length(): number {
    return this.#flushedLength + this.end;
  }

  bytes(bytes: Uint8Array): this {
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.end);
    this.end += bytes.length;
    return this;
  }

  utf8(text: string): this {
    const most = text.length * maxPerCharacter;
    this.reserve(most < bufferBytes ? most : Buffer.byteLength(text));
    this.end += this.buffer.write(text, this.end);
    return this;
  }

  /** Copies what was written out of the buffer, so that the buffer stays small. */
  flush(): void {
    const written = Buffer.from(this.buffer.subarray(0, this.end));
    this.#flushed.push(written);
    this.#flushedLength += written.length;
    this.end = 0;
  }

  /** Returns all bytes. The writer must not be used afterwards. */
  finish(): Buffer {
    this.flush();
    if (kept.length < maxKept && this.buffer.length <= maxKeptBytes) kept.push(this.buffer);
    const [only, ...others] = this.#flushed;
    return others.length === 0 && only !== undefined ? only : Buffer.concat(this.#flushed);
  }

  protected reserve(size: number): void {
    const needed = this.end + size;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.buffer.length));
    this.buffer.copy(larger, 0, 0, this.end);
    this.buffer = larger;
  }
}

/** Short texts are written together, up to this many UTF-16 code units. */
const maxPending = 4_096;

/** Writes text as UTF-8. */
export class TextWriter extends ByteWriter {
  #pending = '';

  /** The length so far: bytes, and UTF-16 code units of what is pending. */
  override get length(): number {
    return super.length + this.#pending.length;
  }

  add(text: string): this {
    this.#pending += text;
    if (this.#pending.length > maxPending) this.#writePending();
    return this;
  }

  override flush(): void {
    this.#writePending();
    super.flush();
  }

  #writePending(): void {
    this.utf8(this.#pending);
    this.#pending = '';
  }
}

/** The fields of a map entry. */
export const mapKey = 1;
export const mapValue = 2;

/** The bytes that a varint of 64 bits takes at most. */
const maxVarint = 10;

/** A text of so many UTF-16 code units takes less than 128 bytes, so that its own length takes one byte. */
const shortText = 42;

/** Writes protobuf's binary form. */
export class WireWriter extends ByteWriter {
  /** The number of open messages and lists. */
  #open = 0;

  tag(field: number, wireType: WireType): this {
    return this.uint(field * 8 + wireType);
  }

  /** Writes a varint. The value is a safe integer, and not negative. */
  uint(value: number): this {
    this.reserve(maxVarint);
    this.#putUint(value);
    return this;
  }

  /** Writes an integer of 32 or 64 bits. A negative one takes ten bytes. */
  int(value: number | bigint): this {
    if (typeof value === 'number' && value >= 0) return this.uint(value);
    this.reserve(maxVarint);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) this.buffer[this.end++] = Number(rest & 0x7fn) | 0x80;
    this.buffer[this.end++] = Number(rest);
    return this;
  }

  double(value: number): this {
    this.reserve(8);
    this.end = this.buffer.writeDoubleLE(value, this.end);
    return this;
  }

  string(text: string): this {
    if (text.length > shortText) return this.uint(Buffer.byteLength(text)).utf8(text);
    this.reserve(1);
    const start = this.end++;
    this.utf8(text);
    this.buffer[start] = this.end - start - 1;
    return this;
  }

  /** Does nothing while a message is open, whose length is not known. */
  override flush(): void {
    if (this.#open === 0) super.flush();
  }

  /** Begins a nested message or list: reserves a byte for its length. Returns the start of its content. */
  open(): number {
    this.#open += 1;
    this.reserve(1);
    this.end += 1;
    return this.end;
  }

  /** Ends the innermost message or list: writes its length before its content. */
  close(start: number): this {
    this.#open -= 1;
    const length = this.end - start;
    if (length < 0x80) {
      this.buffer[start - 1] = length;
      return this;
    }
    this.reserve(maxVarint);
    // The length needs more than the reserved byte.
    const contentStart = start - 1 + varintSize(length);
    this.buffer.copyWithin(contentStart, start, this.end);
    this.end = start - 1;
    this.#putUint(length);
    this.end = contentStart + length;
    return this;
  }

  #putUint(value: number): void {
    let rest = value;
    for (; rest > 0x7fffffff; rest = Math.floor(rest / 0x80)) this.buffer[this.end++] = (rest % 0x80) | 0x80;
    for (; rest > 0x7f; rest >>>= 7) this.buffer[this.end++] = (rest & 0x7f) | 0x80;
    this.buffer[this.end++] = rest;
  }
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 0x7f; rest >>>= 7) size += 1;
  return size;
}
