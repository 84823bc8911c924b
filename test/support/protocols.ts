import type { Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import type { RunningService } from '../../shared/runtime/start-service.ts';
import { createGrpcJsTransport } from './grpc-transport.ts';

/**
 * What some protocols can't do by their nature; tests ask with `cannot`. Connect GET has one more limit,
 * which its transport handles: it sends mutations by POST.
 */
export const incapable = {
  'carry text that is no Unicode': ['gRPC', 'Connect GET', 'gRPC-Web'],
  // The length of a URL is limited.
  'send a query of more than 64 KiB': ['Connect GET'],
} as const satisfies Record<string, readonly string[]>;

/** Whether a protocol can't do something in the table above. */
export function cannot({ name }: Protocol, what: keyof typeof incapable): boolean {
  return incapable[what].some((incapableOne) => incapableOne === name);
}

/** A protocol by which a service is called. */
export interface Protocol {
  readonly name: string;
  open(service: Pick<RunningService, 'grpcPort' | 'webPort'>): { transport: Transport; close(): void };
}

const base = (service: Pick<RunningService, 'webPort'>) => ({
  baseUrl: `http://127.0.0.1:${service.webPort}`,
  httpVersion: '1.1' as const,
});
const nothingToClose = () => undefined;

export const grpc: Protocol = {
  name: 'gRPC',
  open(service) {
    const transport = createGrpcJsTransport(`127.0.0.1:${service.grpcPort}`);
    return { transport, close: transport.close };
  },
};

export const protocols: readonly Protocol[] = [
  grpc,
  {
    name: 'Connect',
    open: (service) => ({
      transport: createConnectTransport({ ...base(service), useBinaryFormat: false }),
      close: nothingToClose,
    }),
  },
  {
    // Queries go by GET, and mutations by POST, here in binary form.
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
