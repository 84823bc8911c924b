import type { DescMessage } from '@bufbuild/protobuf';
import type { Answer } from './answer.ts';
import { type Batches, type EncodingBatch, encodeInBatches } from './batches.ts';
import { ByteWriter } from './byte-writer.ts';
import { EncodedResponse } from './encoding.ts';
import { encoderOf } from './message-encoder.ts';
import type { TurnTaker } from './turns.ts';
import { WireWriter } from './wire-writer.ts';

/** A response that is encoded from its fields, once in each form for all calls that share it. */
export class AnswerResponse<Output extends DescMessage = DescMessage> extends EncodedResponse<Output> {
  readonly #answer: Answer<Output>;
  #binary: Promise<Buffer> | undefined;
  #json: Promise<Buffer> | undefined;

  constructor(schema: Output, answer: Answer<Output>) {
    super(schema);
    this.#answer = answer;
  }

  toBinary(caller: TurnTaker): Promise<Buffer> {
    this.#binary ??= encodeInBatches(caller, (batch) => this.#toBinary(batch));
    return this.#binary;
  }

  toJson(caller: TurnTaker): Promise<Buffer> {
    this.#json ??= encodeInBatches(caller, (batch) => this.#toJson(batch));
    return this.#json;
  }

  *#toBinary(batch: EncodingBatch): Batches<Buffer> {
    const writer = new WireWriter();
    yield* encoderOf(this.schema).writeInBatches(batch, writer, this.#answer);
    return writer.finish();
  }

  *#toJson(batch: EncodingBatch): Batches<Buffer> {
    const writer = new ByteWriter();
    yield* encoderOf(this.schema).writeJsonInBatches(batch, writer, this.#answer);
    return writer.finish();
  }
}
