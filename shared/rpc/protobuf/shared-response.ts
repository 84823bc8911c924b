import type { DescMessage } from '@bufbuild/protobuf';
import { BatchedRead } from '../../batching/batched-read.ts';
import type { Asking } from '../../db/database.ts';
import type { Caller } from '../../fairness/caller.ts';
import { type Codec, EncodedResponse } from './encoding.ts';

/** A call that takes its response in one form. */
interface SharingCall extends Caller {
  readonly codec: Codec;
}

// While one list is encoded, the next one is read.
const bounds = { maxRunning: 2, maxKeys: Number.POSITIVE_INFINITY };

/**
 * Reads a response that is the same for all callers, such as a list. Calls that wait at the same time share its statement
 * and its bytes: it is encoded once in each form that they take.
 *
 * @param open reads the response. Rejects with what the caller gets.
 * @returns a read that rejects as `BatchedRead` does.
 */
export function shareResponse<Output extends DescMessage>(
  open: (asking: Asking) => Promise<EncodedResponse<Output>>,
): (call: SharingCall) => Promise<EncodedResponse<Output>> {
  const responses = new BatchedRead<Codec, SharedResponse<Output>>(async (codecs, asking) => {
    const response = await open(asking);
    const encoded = new Map<Codec, SharedResponse<Output>>();
    for (const codec of codecs) {
      const bytes = codec === 'proto' ? await response.toBinary({}) : Buffer.from(await response.toJson({}));
      encoded.set(codec, new SharedResponse(response.schema, codec, bytes));
    }
    return encoded;
  }, bounds);
  return async (call) => {
    const response = await responses.read(call.codec, call);
    if (response === undefined) throw new Error(`the response was not encoded as ${call.codec}`);
    return response;
  };
}

/** The bytes of a response in one form. */
class SharedResponse<Output extends DescMessage> extends EncodedResponse<Output> {
  readonly #codec: Codec;
  readonly #bytes: Buffer;

  constructor(schema: Output, codec: Codec, bytes: Buffer) {
    super(schema);
    this.#codec = codec;
    this.#bytes = bytes;
  }

  async toBinary(): Promise<Buffer> {
    return this.#bytesAs('proto');
  }

  async toJson(): Promise<Buffer> {
    return this.#bytesAs('json');
  }

  #bytesAs(codec: Codec): Buffer {
    if (codec !== this.#codec) throw new Error(`the response was encoded as ${this.#codec}, and not as ${codec}`);
    return this.#bytes;
  }
}
