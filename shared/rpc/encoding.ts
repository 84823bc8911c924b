import { type DescMessage, type Message, toBinary } from '@bufbuild/protobuf';

const repeated = new WeakMap<Message, Buffer | undefined>();

/** Marks a message that is answered again and again, never changed: it is encoded once. */
export function answeredAgain<Answer extends Message>(message: Answer): Answer {
  repeated.set(message, undefined);
  return message;
}

/** A message as its bytes. */
export function encode(schema: DescMessage, message: Message): Buffer {
  const known = repeated.get(message);
  if (known !== undefined) return known;
  const bytes = toBinary(schema, message);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (repeated.has(message)) repeated.set(message, buffer);
  return buffer;
}
