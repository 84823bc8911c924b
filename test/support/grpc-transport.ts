import { createGrpcTransport, type GrpcTransport } from '../../shared/client/transport.ts';

/** The transport of callers without what it adds to a call: no deadline, nothing called again. */
export function createGrpcJsTransport(address: string): GrpcTransport {
  return createGrpcTransport([], { addresses: [address], defaultTimeoutMs: 0 });
}
