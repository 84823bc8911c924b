import { type DescMessage, type JsonWriteOptions, type Message, toBinary, toJsonString } from '@bufbuild/protobuf';

// A person who reads JSON wants to see false, 0 and [].
export const jsonWriteOptions: Partial<JsonWriteOptions> = { alwaysEmitImplicit: true };

interface Encodings {
  binary?: Buffer;
  json?: string;
}

const repeated = new WeakMap<Message, Encodings>();

/** Marks a message that is answered again and again, never changed: it is encoded once. */
export function answeredAgain<Answer extends Message>(message: Answer): Answer {
  repeated.set(message, {});
  return message;
}

/** A message as its bytes. */
export function encode(schema: DescMessage, message: Message): Buffer {
  const known = repeated.get(message);
  if (known?.binary !== undefined) return known.binary;
  const bytes = toBinary(schema, message);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (known !== undefined) known.binary = buffer;
  return buffer;
}

/** A message as its JSON text. */
export function encodeJson(schema: DescMessage, message: Message): string {
  const known = repeated.get(message);
  if (known?.json !== undefined) return known.json;
  const json = toJsonString(schema, message, jsonWriteOptions);
  if (known !== undefined) known.json = json;
  return json;
}
