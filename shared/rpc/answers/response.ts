import {
  type DescMessage,
  fromBinary,
  fromJsonString,
  type JsonWriteOptions,
  type Message,
  type MessageShape,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf';
import type { Answer } from './answer.ts';
import { encoderOf } from './message-encoder.ts';
import { inSlices, type Waiting } from './slices.ts';
import { TextWriter, WireWriter } from './writers.ts';

/** The encoding of a message. */
export type Codec = 'json' | 'proto';

// People read the JSON too, and expect to see false, 0 and [].
export const jsonWriteOptions: Partial<JsonWriteOptions> = { alwaysEmitImplicit: true };

/** A response that encodes itself, once in each form for all calls that share it. */
export abstract class RpcResponse<Output extends DescMessage = DescMessage> {
  readonly schema: Output;

  constructor(schema: Output) {
    this.schema = schema;
  }

  /** @param caller whom to encode for; undefined for the process itself. Callers with long responses take turns. */
  abstract toBinary(caller: Waiting | undefined): Promise<Buffer>;

  /** Encodes as protobuf's JSON according to `jsonWriteOptions`, as UTF-8. */
  abstract toJson(caller: Waiting | undefined): Promise<Buffer>;

  /** Encodes as a call needs it. */
  encode(call: Waiting & { readonly codec: Codec }): Promise<Buffer> {
    return call.codec === 'proto' ? this.toBinary(call) : this.toJson(call);
  }

  async toMessage(caller: Waiting | undefined): Promise<MessageShape<Output>> {
    return fromBinary(this.schema, await this.toBinary(caller));
  }
}

/** A response that is encoded from its fields. */
export class AnswerResponse<Output extends DescMessage = DescMessage> extends RpcResponse<Output> {
  readonly #answer: Answer<Output>;
  #binary: Promise<Buffer> | undefined;
  #json: Promise<Buffer> | undefined;

  constructor(schema: Output, answer: Answer<Output>) {
    super(schema);
    this.#answer = answer;
  }

  toBinary(caller: Waiting | undefined): Promise<Buffer> {
    this.#binary ??= this.#encodeBinary(caller);
    return this.#binary;
  }

  toJson(caller: Waiting | undefined): Promise<Buffer> {
    this.#json ??= this.#encodeJson(caller);
    return this.#json;
  }

  async #encodeBinary(caller: Waiting | undefined): Promise<Buffer> {
    const [encoder, writer] = [encoderOf(this.schema), new WireWriter()];
    if (encoder.hasLists) await inSlices(caller, (slice) => encoder.writeInSlices(slice, writer, this.#answer));
    else encoder.write(writer, this.#answer);
    return writer.finish();
  }

  async #encodeJson(caller: Waiting | undefined): Promise<Buffer> {
    const encoder = encoderOf(this.schema);
    if (!encoder.hasLists) return Buffer.from(encoder.toJson(this.#answer));
    const writer = new TextWriter();
    await inSlices(caller, (slice) => encoder.writeJsonInSlices(slice, writer, this.#answer));
    return writer.finish();
  }
}

/** A response that was encoded before, for another call. It is converted when it is needed in a form that it lacks. */
export class EncodedResponse<Output extends DescMessage = DescMessage> extends RpcResponse<Output> {
  #binary: Buffer | undefined;
  #json: Buffer | undefined;

  constructor(schema: Output, codec: Codec, bytes: Buffer) {
    super(schema);
    if (codec === 'proto') this.#binary = bytes;
    else this.#json = bytes;
  }

  /** Encodes an answer without lists in both forms, so that it is never converted: that takes eight times as long. */
  static inBothForms<Output extends DescMessage>(schema: Output, answer: Answer<Output>): EncodedResponse<Output> {
    const [encoder, writer] = [encoderOf(schema), new WireWriter()];
    encoder.write(writer, answer);
    const response = new EncodedResponse(schema, 'proto', writer.finish());
    response.#json = Buffer.from(encoder.toJson(answer));
    return response;
  }

  /** The bytes of all its forms. */
  get length(): number {
    return (this.#binary?.length ?? 0) + (this.#json?.length ?? 0);
  }

  async toBinary(): Promise<Buffer> {
    this.#binary ??= encodeMessage(this.schema, fromJsonString(this.schema, String(this.#json)));
    return this.#binary;
  }

  async toJson(): Promise<Buffer> {
    if (this.#json === undefined) {
      const message = fromBinary(this.schema, await this.toBinary());
      this.#json = Buffer.from(toJsonString(this.schema, message, jsonWriteOptions));
    }
    return this.#json;
  }
}

/** Encodes a message in protobuf's binary form. */
export function encodeMessage(schema: DescMessage, message: Message): Buffer {
  const bytes = toBinary(schema, message);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
