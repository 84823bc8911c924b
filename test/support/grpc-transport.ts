import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { StatusSchema } from '../../shared/gen/google/rpc/status_pb.ts';

/** A transport of Connect clients over a grpc-js client, so that one suite speaks native gRPC too. */
export function createGrpcJsTransport(address: string): Transport & { close(): void } {
  const client = new Client(address, credentials.createInsecure(), { 'grpc.max_receive_message_length': -1 });
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
    stream() {
      throw new ConnectError('streams are called with a client of their own', Code.Unimplemented);
    },
    close: () => client.close(),
  };
}

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
