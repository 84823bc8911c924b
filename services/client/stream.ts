import { type DescMessage, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, type StreamRequest, type StreamResponse } from '@connectrpc/connect';
import {
  type CallOptions,
  type Client,
  type ClientReadableStream,
  type StatusObject,
  status as statusCode,
} from '@grpc/grpc-js';
import { toConnectError } from './errors.ts';
import { addMetadata, toMetadata } from './metadata.ts';

/**
 * Makes a server-streaming call. Resolves when its headers arrive. Messages are read only as fast as they are consumed
 * (backpressure). The call is canceled when the request's signal aborts or the consumer leaves the loop.
 */
export async function callStream<Input extends DescMessage, Output extends DescMessage>(
  client: Client,
  { method, url, header, message: input, signal }: StreamRequest<Input, Output>,
  options: CallOptions,
): Promise<StreamResponse<Input, Output>> {
  if (method.methodKind !== 'server_streaming') {
    throw new ConnectError(`${method.name} streams requests, which this client does not`, Code.Unimplemented);
  }
  const firstRequest = await firstOf(input);
  signal.throwIfAborted();
  const call = client.makeServerStreamRequest(
    url,
    (request: MessageShape<Input>) => Buffer.from(toBinary(method.input, request)),
    (bytes: Buffer) => fromBinary(method.output, bytes),
    firstRequest,
    toMetadata(header),
    options,
  );
  signal.addEventListener('abort', () => call.cancel());
  const response = { header: new Headers(), trailer: new Headers() };
  const ended = new Promise<StatusObject>((resolve) => {
    call.once('status', (status: StatusObject) => {
      addMetadata(response.trailer, status.metadata);
      resolve(status);
    });
  });
  // The status reports the error too. Without a listener, the event would end the process.
  call.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    call.once('metadata', (metadata) => {
      addMetadata(response.header, metadata);
      resolve();
    });
    // A call that fails early has no headers.
    call.once('status', () => resolve());
  });
  const message = readMessages<MessageShape<Output>>(call, ended);
  return { stream: true, service: method.parent, method, ...response, message };
}

async function* readMessages<Message>(
  call: ClientReadableStream<Message>,
  ended: Promise<StatusObject>,
): AsyncGenerator<Message> {
  const messages: AsyncIterable<Message> = call;
  try {
    yield* messages;
  } catch {
    // The status explains the failure.
  } finally {
    call.cancel();
  }
  const status = await ended;
  if (status.code !== statusCode.OK) throw toConnectError(status);
}

async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item> {
  for await (const item of items) return item;
  throw new ConnectError('the call has no request', Code.Internal);
}
