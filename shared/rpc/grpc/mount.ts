import { once } from 'node:events';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import {
  Metadata,
  type MethodDefinition,
  type Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { CallSignal } from '../../cancellation/signal.ts';
import { commonErrors, fail } from '../../errors/errors.ts';
import { CallContext, type CallSource } from '../call-context.ts';
import { decodeRequest } from '../decode-request.ts';
import { executeStream, executeUnary, type Implementation, type Interceptors, type Rpc } from '../implementation.ts';
import { procedurePath } from '../procedure.ts';
import { encodeStatus } from './refusals.ts';
import { holdRequest } from './requests.ts';

/** A grpc-js call with raw bytes as messages. They are decoded and encoded as those of every protocol. */
type UnaryCall = ServerUnaryCall<Buffer, Buffer>;
type StreamingCall = ServerWritableStream<Buffer, Buffer>;

/** Adds a service's procedures to a grpc-js server. */
export function mount(server: Server, { rpcs }: Implementation, interceptors: Interceptors): void {
  const definition: Record<string, MethodDefinition<Buffer, Buffer>> = {};
  const handlers: UntypedServiceImplementation = {};
  const asIs = (bytes: Buffer) => bytes;
  for (const rpc of rpcs) {
    const { localName, methodKind } = rpc.method;
    definition[localName] = {
      path: procedurePath(rpc.method),
      originalName: localName,
      requestStream: false,
      responseStream: methodKind === 'server_streaming',
      requestDeserialize: asIs,
      requestSerialize: asIs,
      responseDeserialize: asIs,
      responseSerialize: asIs,
    };
    const createHandler = methodKind === 'unary' ? createUnaryHandler : createStreamHandler;
    handlers[localName] = createHandler(rpc, interceptors);
  }
  server.addService(definition, handlers);
}

function createUnaryHandler(rpc: Rpc, interceptors: Interceptors) {
  const execute = executeUnary(interceptors, rpc);
  return (grpcCall: UnaryCall, callback: sendUnaryData<Buffer>) => {
    const call = new CallContext(new GrpcCallSource(rpc.method, grpcCall));
    const request = holdRequest(grpcCall);
    execute(call).then(
      (response) => {
        request?.endPart();
        grpcCall.sendMetadata(toMetadata(call.responseHeaders));
        callback(null, response);
      },
      (error: ConnectError) => {
        request?.endPart();
        callback(toStatus(error, call));
      },
    );
  };
}

function createStreamHandler(rpc: Rpc, interceptors: Interceptors) {
  return (grpcCall: StreamingCall) => {
    const call = new CallContext(new GrpcCallSource(rpc.method, grpcCall));
    const execute = executeStream(interceptors, rpc, async () => {
      const request = call.request;
      const signal = call.signal.toAbortSignal();
      grpcCall.sendMetadata(toMetadata(call.responseHeaders));
      for await (const message of rpc.stream(request, call)) {
        if (grpcCall.write(await message.toBinary({ subject: call.subject }))) continue;
        await once(grpcCall, 'drain', { signal }).catch((error: unknown) => {
          call.signal.throwIfAborted();
          throw error;
        });
      }
    });
    execute(call).then(
      () => grpcCall.end(),
      (error: ConnectError) => grpcCall.emit('error', toStatus(error, call)),
    );
  };
}

class GrpcCallSource implements CallSource {
  readonly method: DescMethod;
  readonly protocol = 'grpc';
  readonly codec = 'proto';
  readonly requestCodec = 'proto';
  readonly #call: UnaryCall | StreamingCall;

  constructor(method: DescMethod, call: UnaryCall | StreamingCall) {
    this.method = method;
    this.#call = call;
  }

  get hasDeadline(): boolean {
    return this.#call.getDeadline() !== Number.POSITIVE_INFINITY;
  }

  get requestBytes(): number {
    return this.#call.request.byteLength;
  }

  /** Returns the value of a metadata key. Repeated values are joined with commas, as in HTTP. */
  header(name: string): string | undefined {
    const values = this.#call.metadata.get(name);
    return values.length < 2 ? values[0]?.toString() : values.join(', ');
  }

  openSignal(): CallSignal {
    const signal = new CallSignal();
    const call = this.#call;
    // grpc-js also reports a call as canceled after its deadline, and after it has ended.
    const abort = () =>
      signal.abort(() => {
        const isLate = Number(call.getDeadline()) <= Date.now();
        return fail(isLate ? commonErrors.deadlineExceeded : commonErrors.canceled);
      });
    if (call.cancelled) abort();
    else call.once('cancelled', abort);
    return signal;
  }

  decode(): Message {
    return decodeRequest(this.method, 'proto', this.#call.request);
  }
}

function toStatus(error: ConnectError, call: CallContext) {
  const metadata = toMetadata(call.responseHeaders);
  metadata.set('grpc-status-details-bin', encodeStatus(error));
  return { code: Number(error.code), details: error.rawMessage, metadata };
}

function toMetadata(headers: ReadonlyMap<string, string>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of headers) metadata.set(name, value);
  return metadata;
}
