import type { DescService } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { createCancelingClient } from './connect/streams.ts';
import { createGrpcTransport, type GrpcOptions } from './transport.ts';

export type GrpcClient<Service extends DescService> = Client<Service> & {
  /** Closes the connections once the calls in flight have ended. Later calls fail. */
  close(): void;
};

/**
 * Creates a client of one service over grpc-js, with a method for each procedure. Calls use all addresses in turn. A
 * call that fails with UNAVAILABLE is tried up to four times. Mutations carry an `idempotency-key`, taken from
 * `headers` or generated, so that retries do not execute them twice.
 *
 * A unary method returns a promise of the response. A streaming method returns an async iterable. Its call starts at
 * the first read, and is canceled when the consumer leaves the loop. Both take `signal`, `timeoutMs`, `headers`,
 * `onHeader` and `onTrailer`. They fail with a `ConnectError` that has the gRPC code; `reasonOf` returns its reason.
 *
 * @throws TypeError for invalid addresses.
 */
export function createGrpcClient<Service extends DescService>(
  service: Service,
  options: GrpcOptions,
): GrpcClient<Service> {
  const transport = createGrpcTransport([service], options);
  return Object.assign(createCancelingClient(service, transport), { close: () => transport.close() });
}
