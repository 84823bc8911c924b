import {
  type DescMessage,
  type DescMethodUnary,
  fromJsonString,
  type MessageInitShape,
  type MessageShape,
  toJson,
} from '@bufbuild/protobuf';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';

// One real call before the load: h2load does not look into the answers.

/** The path of a procedure, over either protocol. */
export function pathOf(method: DescMethodUnary): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** Throws when the gRPC status is not OK. */
export async function callGrpc<Input extends DescMessage, Output extends DescMessage>(
  port: number,
  method: DescMethodUnary<Input, Output>,
  request: MessageInitShape<Input>,
  token: string,
): Promise<MessageShape<Output>> {
  const transport = createGrpcJsTransport(`127.0.0.1:${port}`);
  try {
    const headers = { authorization: `Bearer ${token}` };
    return (await transport.unary(method, undefined, undefined, headers, request)).message;
  } finally {
    transport.close();
  }
}

/** Calls with JSON over HTTP/1.1; also tells how long the answer's text is. */
export async function callJson<Input extends DescMessage, Output extends DescMessage>(
  port: number,
  method: DescMethodUnary<Input, Output>,
  body: string,
  token: string,
): Promise<{ message: MessageShape<Output>; bytes: number }> {
  const response = await fetch(`http://127.0.0.1:${port}${pathOf(method)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return { message: fromJsonString(method.output, text), bytes: Buffer.byteLength(text) };
}

/** Throws when the answers differ in more than the fields, by their JSON names, that each call has anew. */
export function assertSameAnswer<Schema extends DescMessage>(
  schema: Schema,
  service: MessageShape<Schema>,
  bare: MessageShape<Schema>,
  generated: readonly string[] = [],
): void {
  const text = (message: MessageShape<Schema>) =>
    JSON.stringify(toJson(schema, message), (key, value) => (generated.includes(key) ? undefined : value));
  const [left, right] = [text(service), text(bare)];
  if (left === right) return;
  const at = [...left].findIndex((character, index) => character !== right[index]);
  const around = (all: string) => all.slice(Math.max(0, at - 80), at + 80);
  throw new Error(`${schema.typeName} differs\nservice: ${around(left)}\nbare:    ${around(right)}`);
}
