import { once } from 'node:events';
import { create, type DescFile, type DescService, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { Server, ServerDuplexStream, ServiceDefinition } from '@grpc/grpc-js';
import { Health } from '../../gen/grpc/health/v1/health_pb.ts';
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from '../../gen/grpc/reflection/v1/reflection_pb.ts';
import { ServerReflection as ServerReflectionAlpha } from '../../gen/grpc/reflection/v1alpha/reflection_pb.ts';
import { procedurePath } from '../procedure.ts';
import { Descriptors } from './descriptors.ts';

type ReflectionCall = ServerDuplexStream<ServerReflectionRequest, ServerReflectionResponse>;

/**
 * Mounts both versions of server reflection, covering the services, health and reflection itself. The descriptors
 * include the `buf.validate` rules and the types of error details.
 */
export function addReflection(server: Server, services: readonly DescService[]): void {
  // Both versions have the same wire format.
  const versions = [ServerReflection, ServerReflectionAlpha];
  const descriptors = new Descriptors([...services, Health, ...versions]);
  for (const { method } of versions) {
    const { name } = method.serverReflectionInfo;
    const definition: ServiceDefinition = {
      [name]: {
        path: procedurePath(method.serverReflectionInfo),
        requestStream: true,
        responseStream: true,
        requestSerialize: (request: ServerReflectionRequest) =>
          Buffer.from(toBinary(ServerReflectionRequestSchema, request)),
        requestDeserialize: (bytes) => fromBinary(ServerReflectionRequestSchema, bytes),
        responseSerialize: (response: ServerReflectionResponse) =>
          Buffer.from(toBinary(ServerReflectionResponseSchema, response)),
        responseDeserialize: (bytes) => fromBinary(ServerReflectionResponseSchema, bytes),
      },
    };
    server.addService(definition, { [name]: (call: ReflectionCall) => void answerAll(call, descriptors) });
  }
}

/** Answers a stream's requests one by one, with backpressure: each after the client has taken the previous response. */
async function answerAll(call: ReflectionCall, descriptors: Descriptors): Promise<void> {
  const ended = new AbortController();
  call.once('cancelled', () => ended.abort());
  const sent = new Set<DescFile>();
  try {
    for await (const request of call.iterator({ destroyOnReturn: false })) {
      const { host: validHost } = request;
      const messageResponse = descriptors.lookUp(request, sent);
      const response = { validHost, originalRequest: request, messageResponse };
      if (!call.write(create(ServerReflectionResponseSchema, response))) {
        await once(call, 'drain', { signal: ended.signal });
      }
    }
    call.end();
  } catch {
    // The caller has disconnected or sent a malformed request, and grpc-js has ended the call.
  }
}
