import {
  type DescMessage,
  fromBinary,
  type JsonWriteOptions,
  type Message,
  type MessageShape,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf';
import type { TurnTaker } from './turns.ts';

/** The form in which a message is encoded. */
export type Codec = 'json' | 'proto';

// JSON is read by people too, who expect to see false, 0 and [].
export const jsonWriteOptions: Partial<JsonWriteOptions> = { alwaysEmitImplicit: true };

/** A response that encodes itself, for lists where creating and encoding a message costs too much. */
export abstract class EncodedResponse<Output extends DescMessage = DescMessage> {
  readonly schema: Output;

  constructor(schema: Output) {
    this.schema = schema;
  }

  /** @param caller for whom it is encoded. A long response is encoded in turns with those of others. */
  abstract toBinary(caller: TurnTaker): Promise<Buffer>;

  /** Encodes in protobuf's JSON form, according to `jsonWriteOptions`: as text, or as its bytes. */
  abstract toJson(caller: TurnTaker): Promise<string | Buffer>;

  async toMessage(caller: TurnTaker): Promise<MessageShape<Output>> {
    return fromBinary(this.schema, await this.toBinary(caller));
  }
}

/** What the handler of a unary procedure returns. */
export type HandlerResponse = Message | EncodedResponse;

/** Encodes a response in protobuf's binary form. */
export async function encodeBinary(schema: DescMessage, response: HandlerResponse, caller: TurnTaker): Promise<Buffer> {
  return response instanceof EncodedResponse ? response.toBinary(caller) : encodeMessage(schema, response);
}

/** Encodes a message in protobuf's binary form. */
export function encodeMessage(schema: DescMessage, message: Message): Buffer {
  const bytes = toBinary(schema, message);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Encodes a response in protobuf's JSON form. */
export async function encodeJson(
  schema: DescMessage,
  response: HandlerResponse,
  caller: TurnTaker,
): Promise<string | Buffer> {
  return response instanceof EncodedResponse
    ? response.toJson(caller)
    : toJsonString(schema, response, jsonWriteOptions);
}
