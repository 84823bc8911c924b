import type { Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import type { RunningService } from '../../shared/runtime/start-service.ts';
import { createGrpcJsTransport } from './grpc-transport.ts';

/**
 * What some protocols can't do, each by its nature; a test that asks for it says so with `cannot`.
 * Connect GET has one more limit, which the transport handles: it has no GET for what changes something.
 */
export const incapable = {
  'carry text that is no Unicode': ['gRPC', 'Connect GET', 'gRPC-Web'],
  // Its URL is bounded, and with it the request.
  'send a query of more than 64 KiB': ['Connect GET'],
} as const satisfies Record<string, readonly string[]>;

/** Whether a protocol can't do something of the table above. */
export function cannot({ name }: Protocol, what: keyof typeof incapable): boolean {
  return incapable[what].some((incapableOne) => incapableOne === name);
}

/** A way to call a service; the contract holds over each of them. */
export interface Protocol {
  readonly name: string;
  open(service: Pick<RunningService, 'grpcPort' | 'webPort'>): { transport: Transport; close(): void };
}

const base = (service: Pick<RunningService, 'webPort'>) => ({
  baseUrl: `http://127.0.0.1:${service.webPort}`,
  httpVersion: '1.1' as const,
});
const nothingToClose = () => undefined;

export const protocols: readonly Protocol[] = [
  {
    name: 'gRPC',
    open(service) {
      const transport = createGrpcJsTransport(`127.0.0.1:${service.grpcPort}`);
      return { transport, close: transport.close };
    },
  },
  {
    name: 'Connect',
    open: (service) => ({
      transport: createConnectTransport({ ...base(service), useBinaryFormat: false }),
      close: nothingToClose,
    }),
  },
  {
    // Queries by GET; what changes something has no GET and goes by POST, here in binary form.
    name: 'Connect GET',
    open: (service) => ({
      transport: createConnectTransport({ ...base(service), useBinaryFormat: true, useHttpGet: true }),
      close: nothingToClose,
    }),
  },
  {
    name: 'gRPC-Web',
    open: (service) => ({ transport: createGrpcWebTransport(base(service)), close: nothingToClose }),
  },
];
