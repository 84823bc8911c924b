import { commonErrors, fail } from '../../errors/errors.ts';
import { maxMessageBytes, maxRequestMemoryBytes, unreservedRequestBytes } from './limits.ts';

// The highest compression ratio of deflate, and the memory of a zlib stream while it inflates.
const maxInflation = 1032;
const inflaterBytes = 48 * 1024;

/**
 * The memory that the large requests of a process share, each from its arrival to the end of its call.
 * A request is read before admission, so that a half-sent one takes no other call's place. This budget
 * bounds what ten thousand half-sent requests hold, and what small compressed ones inflate to.
 */
export class RequestMemory {
  #free: number;

  constructor(bytes = maxRequestMemoryBytes) {
    this.#free = bytes;
  }

  /** Takes the bytes out of the budget; false, and nothing is taken, when too few are left. */
  reserve(bytes: number): boolean {
    if (bytes > this.#free) return false;
    this.#free -= bytes;
    return true;
  }

  release(bytes: number): void {
    this.#free += bytes;
  }
}

/** The share of one request in the memory. */
export class MemoryReservation {
  readonly #memory: RequestMemory;
  readonly #isCompressed: boolean;
  readonly #headerBytes: number;
  #reserved = 0;

  /** @param rawHeaders header names and values, as Node received them. */
  constructor(memory: RequestMemory, isCompressed: boolean, rawHeaders: readonly string[]) {
    this.#memory = memory;
    this.#isCompressed = isCompressed;
    let headerBytes = 0;
    for (const part of rawHeaders) headerBytes += part.length;
    this.#headerBytes = headerBytes;
  }

  /** Reserves memory for a body that has grown to `size` bytes; false when too little is left. */
  reserve(size: number): boolean {
    const body = this.#isCompressed ? Math.min(size * maxInflation, maxMessageBytes) + inflaterBytes : size;
    const bytes = this.#headerBytes + body;
    if (bytes <= unreservedRequestBytes || bytes <= this.#reserved) return true;
    if (!this.#memory.reserve(bytes - this.#reserved)) return false;
    this.#reserved = bytes;
    return true;
  }

  release(): void {
    this.#memory.release(this.#reserved);
    this.#reserved = 0;
  }

  /** Passes the chunks of a body on and reserves memory for them. Throws OVERLOADED when too little is left. */
  async *reserveChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    let size = 0;
    if (!this.reserve(size)) throw fail(commonErrors.overloaded);
    for await (const chunk of chunks) {
      size += chunk.byteLength;
      if (!this.reserve(size)) throw fail(commonErrors.overloaded);
      yield chunk;
    }
  }
}
