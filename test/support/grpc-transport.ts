import { PassThrough } from 'node:stream';
import { create, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { Client, type ClientReadableStream, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { StatusSchema } from '../../shared/gen/google/rpc/status_pb.ts';

/** A transport of Connect clients over a grpc-js client, so that one suite speaks native gRPC too. */
export function createGrpcJsTransport(
  address: string,
  security = credentials.createInsecure(),
): Transport & { close(): void } {
  const client = new Client(address, security, { 'grpc.max_receive_message_length': -1 });
  return {
    unary(method, signal, timeoutMs, header, input) {
      return new Promise((resolve, reject) => {
        const responseHeader = new Headers();
        const request = create(method.input, input);
        const call = client.makeUnaryRequest(
          `/${method.parent.typeName}/${method.name}`,
          (message: typeof request) => Buffer.from(toBinary(method.input, message)),
          (bytes: Buffer) => fromBinary(method.output, bytes),
          request,
          toMetadata(header),
          timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs },
          (error, message) => {
            if (error !== null || message === undefined) {
              reject(toConnectError(error));
              return;
            }
            resolve({
              stream: false,
              service: method.parent,
              method,
              header: responseHeader,
              trailer: new Headers(),
              message,
            });
          },
        );
        call.on('metadata', (metadata) => {
          for (const [name, value] of Object.entries(metadata.getMap())) responseHeader.set(name, String(value));
        });
        signal?.addEventListener('abort', () => call.cancel());
      });
    },
    async stream(method, signal, timeoutMs, header, input) {
      const request = await firstOf(input);
      const call = client.makeServerStreamRequest(
        `/${method.parent.typeName}/${method.name}`,
        (message: MessageShape<typeof method.input>) => Buffer.from(toBinary(method.input, message)),
        (bytes: Buffer) => fromBinary(method.output, bytes),
        create(method.input, request),
        toMetadata(header),
        timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs },
      );
      const message = readMessages(call);
      const stop = () => call.cancel();
      if (signal?.aborted) stop();
      else signal?.addEventListener('abort', stop);
      return {
        stream: true,
        service: method.parent,
        method,
        header: await readHeader(call),
        trailer: new Headers(),
        message,
      };
    },
    close: () => client.close(),
  };
}

async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item> {
  for await (const item of items) return item;
  throw new ConnectError('no request', Code.Internal);
}

/** Reads on from now, so that an early error is not missed. */
function readMessages<Message>(call: ClientReadableStream<Message>): AsyncGenerator<Message> {
  const messages = new PassThrough({ objectMode: true });
  let failure: ConnectError | undefined;
  call.on('data', (message: Message) => messages.write(message));
  call.on('end', () => messages.end());
  call.on('error', (error: Error) => {
    failure = toConnectError(isServiceError(error) ? error : null);
  });
  return (async function* read() {
    try {
      yield* messages;
      if (failure !== undefined) throw failure;
    } finally {
      call.cancel();
    }
  })();
}

/** The headers, empty when the call ends without any. */
function readHeader(call: ClientReadableStream<unknown>): Promise<Headers> {
  return new Promise((resolve) => {
    const header = new Headers();
    call.once('metadata', (metadata: Metadata) => {
      for (const [name, value] of Object.entries(metadata.getMap())) header.set(name, String(value));
      resolve(header);
    });
    call.once('status', () => resolve(header));
  });
}

const isServiceError = (error: Error): error is ServiceError => 'details' in error && 'metadata' in error;

function toMetadata(header: ConstructorParameters<typeof Headers>[0]): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of new Headers(header)) metadata.set(name, value);
  return metadata;
}

function toConnectError(error: ServiceError | null): ConnectError {
  if (error === null) return new ConnectError('no answer', Code.Internal);
  const result = new ConnectError(error.details, Number(error.code));
  for (const [name, value] of Object.entries(error.metadata.getMap())) {
    if (typeof value === 'string') result.metadata.set(name, value);
  }
  const [bytes] = error.metadata.get('grpc-status-details-bin');
  if (bytes instanceof Buffer) {
    result.details = fromBinary(StatusSchema, bytes).details.map(({ typeUrl, value }) => ({
      type: typeUrl.slice(typeUrl.lastIndexOf('/') + 1),
      value,
    }));
  }
  return result;
}
