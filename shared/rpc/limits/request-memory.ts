import { commonErrors, fail } from '../../errors/errors.ts';
import { maxMessageBytes, maxRequestMemoryBytes, smallRequestBytes } from './limits.ts';

// Deflate's best; and what zlib holds for itself, as long as it inflates.
const largestInflation = 1032;
const inflaterBytes = 48 * 1024;

/**
 * What the large requests of a process hold, from their arrival to the end of their calls. A request
 * is read before its call is admitted, so that a half-sent one takes nobody's place; this bounds what
 * ten thousand half-sent ones hold instead, and what small ones are inflated to.
 */
export class RequestMemory {
  #free: number;

  constructor(bytes = maxRequestMemoryBytes) {
    this.#free = bytes;
  }

  reserve(bytes: number): boolean {
    if (bytes > this.#free) return false;
    this.#free -= bytes;
    return true;
  }

  release(bytes: number): void {
    this.#free += bytes;
  }
}

/** What one request holds. */
export class MemoryReservation {
  readonly #memory: RequestMemory;
  readonly #inflates: boolean;
  readonly #headerBytes: number;
  #taken = 0;

  /** @param rawHeaders names and values as they came. */
  constructor(memory: RequestMemory, inflates: boolean, rawHeaders: readonly string[]) {
    this.#memory = memory;
    this.#inflates = inflates;
    let headerBytes = 0;
    for (const part of rawHeaders) headerBytes += part.length;
    this.#headerBytes = headerBytes;
  }

  /** Whether the request may have a body of so many bytes. A small one may, whatever the others hold. */
  reserve(size: number): boolean {
    const body = this.#inflates ? Math.min(size * largestInflation, maxMessageBytes) + inflaterBytes : size;
    const bytes = this.#headerBytes + body;
    if (bytes <= smallRequestBytes || bytes <= this.#taken) return true;
    if (!this.#memory.reserve(bytes - this.#taken)) return false;
    this.#taken = bytes;
    return true;
  }

  release(): void {
    this.#memory.release(this.#taken);
    this.#taken = 0;
  }

  /** The chunks of the request as they come. Throws OVERLOADED past what it may hold. */
  async *count(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    let size = 0;
    if (!this.reserve(size)) throw fail(commonErrors.overloaded);
    for await (const chunk of chunks) {
      size += chunk.byteLength;
      if (!this.reserve(size)) throw fail(commonErrors.overloaded);
      yield chunk;
    }
  }
}
