import {
  type DescMessage,
  fromBinary,
  type JsonWriteOptions,
  type Message,
  type MessageShape,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf';

// JSON is read by people too, who expect to see false, 0 and [].
export const jsonWriteOptions: Partial<JsonWriteOptions> = { alwaysEmitImplicit: true };

/** A response that encodes itself, for lists where creating and encoding a message costs too much. */
export abstract class EncodedResponse<Output extends DescMessage = DescMessage> {
  readonly schema: Output;

  constructor(schema: Output) {
    this.schema = schema;
  }

  abstract toBinary(): Promise<Buffer>;

  /** Encodes in protobuf's JSON form, according to `jsonWriteOptions`. */
  abstract toJson(): Promise<string>;

  async toMessage(): Promise<MessageShape<Output>> {
    return fromBinary(this.schema, await this.toBinary());
  }
}

/** A response that is sent many times and never changes: it is encoded once. */
export class CachedResponse<Output extends DescMessage> extends EncodedResponse<Output> {
  readonly #message: MessageShape<Output>;
  #binary: Buffer | undefined;
  #json: string | undefined;

  constructor(schema: Output, message: MessageShape<Output>) {
    super(schema);
    this.#message = message;
  }

  async toBinary(): Promise<Buffer> {
    this.#binary ??= encodeMessage(this.schema, this.#message);
    return this.#binary;
  }

  async toJson(): Promise<string> {
    this.#json ??= toJsonString(this.schema, this.#message, jsonWriteOptions);
    return this.#json;
  }

  override async toMessage(): Promise<MessageShape<Output>> {
    return this.#message;
  }
}

/** What the handler of a unary procedure returns. */
export type HandlerResponse = Message | EncodedResponse;

/** Encodes a response in protobuf's binary form. */
export async function encodeBinary(schema: DescMessage, response: HandlerResponse): Promise<Buffer> {
  return response instanceof EncodedResponse ? response.toBinary() : encodeMessage(schema, response);
}

/** Encodes a message in protobuf's binary form. */
export function encodeMessage(schema: DescMessage, message: Message): Buffer {
  const bytes = toBinary(schema, message);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Encodes a response in protobuf's JSON form. */
export async function encodeJson(schema: DescMessage, response: HandlerResponse): Promise<string> {
  return response instanceof EncodedResponse ? response.toJson() : toJsonString(schema, response, jsonWriteOptions);
}
