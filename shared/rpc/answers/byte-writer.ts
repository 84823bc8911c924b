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
