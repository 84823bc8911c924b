import { commonErrors, fail } from '../../errors/errors.ts';

/** The flags and the length in front of each message of gRPC, of gRPC-Web and of Connect's streams. */
export const envelopeHeadBytes = 5;

/** The first envelope of a request, while its chunks arrive. */
export class Envelope {
  #head = Buffer.alloc(0);
  #size = 0;

  add(chunk: Uint8Array): void {
    if (this.#head.byteLength < envelopeHeadBytes) {
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, envelopeHeadBytes)]);
    }
    this.#size += chunk.byteLength;
  }

  /** The bytes that have arrived, of this envelope and of what follows it. */
  get size(): number {
    return this.#size;
  }

  /** Whether more has arrived than this envelope. */
  get isFollowed(): boolean {
    if (this.#head.byteLength < envelopeHeadBytes) return false;
    return this.#size > envelopeHeadBytes + this.#head.readUInt32BE(1);
  }
}

/** Creates the UNIMPLEMENTED for a request without a message, or with several. */
export function notOneMessage() {
  return fail(commonErrors.unimplemented, { params: { method: 'A request without exactly one message' } });
}
