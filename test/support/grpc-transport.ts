import type { ChannelCredentials } from '@grpc/grpc-js';
import { createGrpcTransport, type GrpcTransport } from '../../shared/client/transport.ts';

/** The transport of callers without what it adds to a call: no deadline, nothing called again. */
export function createGrpcJsTransport(address: string, credentials?: ChannelCredentials): GrpcTransport {
  return createGrpcTransport([], { addresses: [address], defaultTimeoutMs: 0, credentials });
}
