import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { MethodDefinition, Server, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';

/** Serves a procedure with grpc-js and protobuf-es as their manuals use them. */
export function serve<Input extends DescMessage, Output extends DescMessage>(
  server: Server,
  method: DescMethodUnary<Input, Output>,
  handle: (request: MessageShape<Input>) => Promise<MessageInitShape<Output>>,
): void {
  const serialize = <Schema extends DescMessage>(schema: Schema, message: MessageShape<Schema>) => {
    const bytes = toBinary(schema, message);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
  const definition: MethodDefinition<MessageShape<Input>, MessageShape<Output>> = {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (message) => serialize(method.input, message),
    requestDeserialize: (bytes) => fromBinary(method.input, bytes),
    responseSerialize: (message) => serialize(method.output, message),
    responseDeserialize: (bytes) => fromBinary(method.output, bytes),
  };
  const answer = (
    call: ServerUnaryCall<MessageShape<Input>, MessageShape<Output>>,
    callback: sendUnaryData<MessageShape<Output>>,
  ) => {
    handle(call.request).then((init) => callback(null, create(method.output, init)), callback);
  };
  server.addService({ [method.localName]: definition }, { [method.localName]: answer });
}
