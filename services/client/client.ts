import type { DescService } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { createCancelingClient } from './connect/streams.ts';
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
 * and `onTrailer`. They fail with a `ConnectError`, which has the gRPC code; `reasonOf` tells
 * its reason.
 *
 * @throws TypeError for addresses that are not valid.
 */
export function createGrpcClient<Service extends DescService>(
  service: Service,
  options: GrpcOptions,
): GrpcClient<Service> {
  const transport = createGrpcTransport([service], options);
  return Object.assign(createCancelingClient(service, transport), { close: () => transport.close() });
}
