import type { DescMessage } from '@bufbuild/protobuf';
import { BatchedRead } from '../../batching/batched-read.ts';
import type { Database } from '../../db/database.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Caller } from '../../fairness/caller.ts';
import type { Answer } from './answer.ts';
import { AnswerResponse } from './answer-response.ts';
import { type Codec, EncodedResponse } from './encoding.ts';

/** A call that needs its response in one encoding. */
interface SharingCall extends Caller {
  readonly codec: Codec;
}

// More concurrent reads would serve fewer calls each, and their results would pile up in memory.
const bounds = { maxRunning: 1, maxKeys: Number.POSITIVE_INFINITY, maxReads: 128 };

/**
 * Creates a read of a response that is the same for all callers, such as a list. Concurrent calls share a statement,
 * and the response is encoded once per encoding. Calls that arrive meanwhile share the next statement.
 *
 * @param read reads the response with one statement. Rejects with the caller's error.
 * @returns a function that rejects as `BatchedRead` does, and with the errors of `read` and of encoding.
 */
export function shareResponse<Output extends DescMessage>(
  database: Database,
  schema: Output,
  read: (db: Queryable) => Promise<Answer<Output>>,
): (call: SharingCall) => Promise<EncodedResponse<Output>> {
  const responses = new BatchedRead<Codec, Promise<EncodedResponse<Output>>>(async (take, asking) => {
    let codecs: readonly Codec[] = [];
    const answer = await read({
      query: (statement) =>
        database.for(asking).queryLate(() => {
          codecs = take();
          return codecs.length === 0 ? undefined : statement;
        }),
    });
    const response = new AnswerResponse(schema, answer);
    const encoded = new Map(codecs.map((codec) => [codec, encode(response, codec)]));
    // One encoding may exceed the size limit while the other does not.
    await Promise.allSettled(encoded.values());
    return encoded;
  }, bounds);
  return async (call) => {
    const response = await responses.read(call.codec, call);
    if (response === undefined) throw new Error(`the response was not encoded as ${call.codec}`);
    return response;
  };
}

async function encode<Output extends DescMessage>(response: EncodedResponse<Output>, codec: Codec) {
  // Each list takes its own turns, so that a short one does not wait for all of a long one.
  const caller = { subject: response.schema.typeName };
  const bytes = codec === 'proto' ? await response.toBinary(caller) : Buffer.from(await response.toJson(caller));
  return new SharedResponse(response.schema, codec, bytes);
}

/** The bytes of a response in one encoding. */
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
