import {
  type DescMessage,
  fromBinary,
  type JsonWriteOptions,
  type Message,
  type MessageShape,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf';

// A person who reads JSON wants to see false, 0 and [].
export const jsonWriteOptions: Partial<JsonWriteOptions> = { alwaysEmitImplicit: true };

/** An answer that writes itself, where to make and to write a message would cost too much. */
export abstract class EncodedResponse<Output extends DescMessage = DescMessage> {
  readonly schema: Output;

  constructor(schema: Output) {
    this.schema = schema;
  }

  abstract toBinary(): Promise<Buffer> | Buffer;

  /** In protobuf's JSON form, as `jsonWriteOptions` tell. */
  abstract toJson(): Promise<string> | string;

  async toMessage(): Promise<MessageShape<Output>> {
    return fromBinary(this.schema, await this.toBinary());
  }
}

/** An answer that is given again and again, never changed: it is encoded once. */
export class CachedResponse<Output extends DescMessage> extends EncodedResponse<Output> {
  readonly #message: MessageShape<Output>;
  #binary: Buffer | undefined;
  #json: string | undefined;

  constructor(schema: Output, message: MessageShape<Output>) {
    super(schema);
    this.#message = message;
  }

  toBinary(): Buffer {
    this.#binary ??= encodeMessage(this.schema, this.#message);
    return this.#binary;
  }

  toJson(): string {
    this.#json ??= toJsonString(this.schema, this.#message, jsonWriteOptions);
    return this.#json;
  }

  override async toMessage(): Promise<MessageShape<Output>> {
    return this.#message;
  }
}

/** What a procedure answers with. */
export type Answer = Message | EncodedResponse;

export function encode(schema: DescMessage, answer: Answer): Promise<Buffer> | Buffer {
  return answer instanceof EncodedResponse ? answer.toBinary() : encodeMessage(schema, answer);
}

export function encodeMessage(schema: DescMessage, message: Message): Buffer {
  const bytes = toBinary(schema, message);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function encodeJson(schema: DescMessage, answer: Answer): Promise<string> | string {
  return answer instanceof EncodedResponse ? answer.toJson() : toJsonString(schema, answer, jsonWriteOptions);
}
