import { type DescMessage, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import type { UnaryRequest, UnaryResponse } from '@connectrpc/connect';
import type { CallOptions, Client } from '@grpc/grpc-js';
import { toConnectError } from './errors.ts';
import { addMetadata, toMetadata } from './metadata.ts';

/** Makes a unary call. It is canceled when the request's signal aborts. Rejects with a `ConnectError`. */
export function callUnary<Input extends DescMessage, Output extends DescMessage>(
  client: Client,
  { method, url, header, message: input, signal }: UnaryRequest<Input, Output>,
  options: CallOptions,
): Promise<UnaryResponse<Input, Output>> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const response = { header: new Headers(), trailer: new Headers() };
    let message: MessageShape<Output> | undefined;
    const call = client.makeUnaryRequest(
      url,
      (request: MessageShape<Input>) => Buffer.from(toBinary(method.input, request)),
      (bytes: Buffer) => fromBinary(method.output, bytes),
      input,
      toMetadata(header),
      options,
      (error, output) => {
        if (error !== null) reject(toConnectError(error));
        else message = output;
      },
    );
    signal.addEventListener('abort', () => call.cancel());
    call.on('metadata', (metadata) => addMetadata(response.header, metadata));
    // The status is the last event, even after an error.
    call.on('status', ({ metadata }) => {
      addMetadata(response.trailer, metadata);
      if (message !== undefined) resolve({ stream: false, service: method.parent, method, ...response, message });
    });
  });
}
