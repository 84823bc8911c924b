import { experimental } from '@grpc/grpc-js';

/**
 * What the client uses of its libraries beyond their documented interfaces. The client's package goes without the rest of this
 * folder, and its package.json therefore takes only patch releases of both libraries.
 *
 * - Only an experimental resolver can give a channel of grpc-js a fixed list of servers.
 * - Connect's subpath `protocol` serves Connect's own packages. It applies deadlines and interceptors to a call.
 */
export { runStreamingCall, runUnaryCall } from '@connectrpc/connect/protocol';

export type Resolver = experimental.Resolver;
export type ResolverListener = experimental.ResolverListener;
export type GrpcUri = experimental.GrpcUri;
export type Endpoint = experimental.Endpoint;
export const { registerResolver, splitHostPort, statusOrFromValue } = experimental;
