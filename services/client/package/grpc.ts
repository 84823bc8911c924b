export { credentials } from '@grpc/grpc-js';
export { createGrpcClient, type GrpcClient } from '../client.ts';
export type { Token } from '../connect/token.ts';
export { createGrpcTransport, type GrpcOptions, type GrpcTransport } from '../transport.ts';
