import type { ChannelCredentials } from '@grpc/grpc-js';
import { createGrpcTransport, type GrpcTransport } from '../../services/client/transport.ts';

/** The transport of services/client without a default deadline and without retries. */
export function createGrpcJsTransport(address: string, credentials?: ChannelCredentials): GrpcTransport {
  return createGrpcTransport([], { addresses: [address], defaultTimeoutMs: 0, credentials });
}
