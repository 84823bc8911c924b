import type { DescMessage } from '@bufbuild/protobuf';
import type { Caller } from '../../db/caller.ts';
import type { Database } from '../../db/database.ts';
import type { Queryable } from '../../db/statement.ts';
import { SharedRead } from '../../reads/shared-read.ts';
import type { Answer } from './answer.ts';
import { AnswerResponse, type Codec, EncodedResponse } from './response.ts';

// More concurrent reads would serve fewer calls each, and their results would pile up in memory.
const bounds = { maxRunning: 1, maxKeys: Number.POSITIVE_INFINITY, maxReads: 128 };

/**
 * Creates a read of a response that is the same for all callers, such as a list. Concurrent calls share a statement,
 * and the response is encoded once per encoding. Calls that arrive meanwhile share the next statement.
 *
 * @param read reads the response with one statement. Rejects with the caller's error.
 * @returns a function that rejects as `SharedRead` does, and with the errors of `read` and of encoding.
 */
export function shareResponse<Output extends DescMessage>(
  database: Database,
  schema: Output,
  read: (db: Queryable) => Promise<Answer<Output>>,
): (call: Caller & { readonly codec: Codec }) => Promise<EncodedResponse<Output>> {
  const responses = new SharedRead<Codec, Promise<EncodedResponse<Output>>>(async (codecs, process) => {
    const answer = new AnswerResponse(schema, await read(database.for(process)));
    const encoded = new Map(codecs.map((codec) => [codec, encode(answer, codec)]));
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

/** Encodes an answer. Unlike the answer, the result does not keep the rows in memory. */
async function encode<Output extends DescMessage>(answer: AnswerResponse<Output>, codec: Codec) {
  // Each list takes its own turns, so that a short one does not wait for all of a long one.
  const bytes = await answer.encode({ codec, subject: answer.schema.typeName });
  return new EncodedResponse(answer.schema, codec, bytes);
}
