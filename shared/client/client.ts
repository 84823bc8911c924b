import type { DescService } from '@bufbuild/protobuf';
import { type CallOptions, type Client, createClient } from '@connectrpc/connect';
import { createGrpcTransport, type GrpcOptions } from './transport.ts';

export type GrpcClient<Service extends DescService> = Client<Service> & {
  /** Closes the connections once the calls in flight have ended. A later call fails. */
  close(): void;
};

/**
 * A client of one service over grpc-js, with a method for each of its procedures. Its calls go to
 * all addresses in turn; queries that meet UNAVAILABLE are made up to four times.
 *
 * A unary method gives a promise of the answer, a streaming one an async iterable: its call begins
 * at the first read, and is canceled when its reader leaves the loop. Both take `signal`,
 * `timeoutMs`, `headers`, `onHeader` and `onTrailer`. They fail with a `ConnectError`: the gRPC code,
 * and the details by `findDetails(ErrorInfoSchema)`.
 *
 * @throws TypeError for addresses that are none.
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
    return open === undefined ? [] : [[localName, canceledOnReturn(open)]];
  });
  return Object.assign(client, Object.fromEntries(streams), { close: () => transport.close() });
}

/** A streaming method of a client whose messages are only known to its descriptor. */
type OpenStream = (request: object, options?: CallOptions) => AsyncIterable<object>;

/** Connect's own streams hide that their reader left: the call would go on. */
function canceledOnReturn(open: OpenStream): OpenStream {
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
