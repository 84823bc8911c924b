import type { DescService } from '@bufbuild/protobuf';
import { type CallOptions, type Client, createClient, type Transport } from '@connectrpc/connect';

/** Creates a client whose streaming calls are canceled when the consumer leaves the loop. */
export function createCancelingClient<Service extends DescService>(
  service: Service,
  transport: Transport,
): Client<Service> {
  const client = createClient(service, transport);
  const opens = new Map<string, OpenStream>(Object.entries(client));
  const streams = service.methods.flatMap(({ localName, methodKind }) => {
    const open = methodKind === 'server_streaming' ? opens.get(localName) : undefined;
    return open === undefined ? [] : [[localName, cancelOnReturn(open)]];
  });
  return Object.assign(client, Object.fromEntries(streams));
}

/** A client's streaming method, whose message types are only known from its descriptor. */
type OpenStream = (request: object, options?: CallOptions) => AsyncIterable<object>;

/** Cancels the call when the consumer leaves the loop. Connect's own streams would continue. */
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
