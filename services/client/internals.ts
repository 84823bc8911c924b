import { experimental } from '@grpc/grpc-js';

/**
 * The client uses these parts of its libraries beyond their main interfaces. Its package.json therefore accepts
 * only patch releases of both.
 *
 * - Only an experimental resolver can give a grpc-js channel a fixed list of servers.
 * - Connect's subpath `protocol` has the deadlines and interceptors that an implementation of Transport needs.
 */
export { runStreamingCall, runUnaryCall } from '@connectrpc/connect/protocol';

export type Resolver = experimental.Resolver;
export type ResolverListener = experimental.ResolverListener;
export type GrpcUri = experimental.GrpcUri;
export type Endpoint = experimental.Endpoint;
export const { registerResolver, splitHostPort, statusOrFromValue } = experimental;
