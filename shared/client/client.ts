import type { DescService } from '@bufbuild/protobuf';
import { type CallOptions, type Client, createClient } from '@connectrpc/connect';
import { createGrpcTransport, type GrpcOptions } from './transport.ts';

export type GrpcClient<Service extends DescService> = Client<Service> & {
  /** Closes the connections once the calls in flight have ended. A later call fails. */
  close(): void;
};

/**
 * Creates a client of one service over grpc-js, with a method for each of its procedures. Calls go to all addresses in
 * turn; one that fails with UNAVAILABLE is made up to four times. Mutations carry an `idempotency-key`, a new one unless
 * `headers` has one, so that they are executed once all the same.
 *
 * A unary method returns a promise of the response. A streaming method returns an async iterable, whose call starts at
 * the first read and is canceled when the reader leaves the loop. Both take `signal`, `timeoutMs`, `headers`, `onHeader`
 * and `onTrailer`. They fail with a `ConnectError`, which has the gRPC code, and details by
 * `findDetails(ErrorInfoSchema)`.
 *
 * @throws TypeError for addresses that are not valid.
 */
export function createGrpcClient<Service extends DescService>(
  service: Service,
  options: GrpcOptions,
): GrpcClient<Service> {
  const transport = createGrpcTransport([service], options);
  const client = createClient(service, transport);
  const opens = new Map<string, OpenStream>(Object.entries(client));
  const streams = service.methods.flatMap(({ localName, methodKind }) => {
    const open = methodKind === 'server_streaming' ? opens.get(localName) : undefined;
    return open === undefined ? [] : [[localName, cancelOnReturn(open)]];
  });
  return Object.assign(client, Object.fromEntries(streams), { close: () => transport.close() });
}

/** A streaming method of a client, whose message types only its descriptor knows. */
type OpenStream = (request: object, options?: CallOptions) => AsyncIterable<object>;

/** Cancels the call when its reader leaves the loop. Connect's own streams do not notice that and go on. */
function cancelOnReturn(open: OpenStream): OpenStream {
  return async function* read(request, options = {}) {
    const reader = new AbortController();
    const abort = () => reader.abort(options.signal?.reason);
    if (options.signal?.aborted) abort();
    options.signal?.addEventListener('abort', abort);
    try {
      yield* open(request, { ...options, signal: reader.signal });
    } finally {
      options.signal?.removeEventListener('abort', abort);
      reader.abort();
    }
  };
}
