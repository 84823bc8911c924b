import { experimental } from '@grpc/grpc-js';

/**
 * What the client uses of its libraries beyond their main interfaces. Its package.json takes only patch releases of both.
 *
 * - Only an experimental resolver can give a channel of grpc-js a fixed list of servers.
 * - Connect's subpath `protocol` has what implementations of a Transport need: deadlines and interceptors.
 */
export { runStreamingCall, runUnaryCall } from '@connectrpc/connect/protocol';

export type Resolver = experimental.Resolver;
export type ResolverListener = experimental.ResolverListener;
export type GrpcUri = experimental.GrpcUri;
export type Endpoint = experimental.Endpoint;
export const { registerResolver, splitHostPort, statusOrFromValue } = experimental;
