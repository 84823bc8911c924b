import {
  type DescMessage,
  fromBinary,
  type JsonWriteOptions,
  type Message,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { TurnTaker } from './turns.ts';

/** The encoding of a message. */
export type Codec = 'json' | 'proto';

// People read the JSON too, and expect to see false, 0 and [].
export const jsonWriteOptions: Partial<JsonWriteOptions> = { alwaysEmitImplicit: true };

/** A response that encodes itself. */
export abstract class EncodedResponse<Output extends DescMessage = DescMessage> {
  readonly schema: Output;

  constructor(schema: Output) {
    this.schema = schema;
  }

  /** @param caller the caller to encode for. Callers with long responses take turns. */
  abstract toBinary(caller: TurnTaker): Promise<Buffer>;

  /** Encodes as protobuf's JSON according to `jsonWriteOptions`, as text or UTF-8 bytes. */
  abstract toJson(caller: TurnTaker): Promise<string | Buffer>;

  async toMessage(caller: TurnTaker): Promise<MessageShape<Output>> {
    return fromBinary(this.schema, await this.toBinary(caller));
  }
}

/** Encodes a message in protobuf's binary form. */
export function encodeMessage(schema: DescMessage, message: Message): Buffer {
  const bytes = toBinary(schema, message);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
