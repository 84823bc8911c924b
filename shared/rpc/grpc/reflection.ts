import { once } from 'node:events';
import {
  create,
  type DescEnum,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { type ServerDuplexStream, type ServiceDefinition, status } from '@grpc/grpc-js';
import { file_google_rpc_error_details } from '../../gen/google/rpc/error_details_pb.ts';
import { file_google_rpc_status } from '../../gen/google/rpc/status_pb.ts';
import { Health } from '../../gen/grpc/health/v1/health_pb.ts';
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from '../../gen/grpc/reflection/v1/reflection_pb.ts';
import { ServerReflection as ServerReflectionAlpha } from '../../gen/grpc/reflection/v1alpha/reflection_pb.ts';
import type { LongLivedStreams } from './long-lived-streams.ts';

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>['messageResponse']>;

/**
 * Mounts server reflection over the services given, health, and reflection itself: with the rules of
 * `buf.validate`, and with the types of the errors' details, which no procedure names.
 */
export function addReflection(server: LongLivedStreams, services: readonly DescService[]): void {
  // The messages of both versions are the same on the wire.
  const versions = [ServerReflection, ServerReflectionAlpha];
  const descriptors = new Descriptors([...services, Health, ...versions]);
  for (const { method, typeName } of versions) {
    const { name } = method.serverReflectionInfo;
    const definition: ServiceDefinition = {
      [name]: {
        path: `/${typeName}/${name}`,
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
    server.addService(definition, {
      [name]: (call: ServerDuplexStream<ServerReflectionRequest, ServerReflectionResponse>) =>
        void answerAll(call, descriptors),
    });
  }
}

/** Answers each request of a stream once the answer before was taken. */
async function answerAll(
  call: ServerDuplexStream<ServerReflectionRequest, ServerReflectionResponse>,
  descriptors: Descriptors,
): Promise<void> {
  const ended = new AbortController();
  call.once('cancelled', () => ended.abort());
  const sent = new Set<DescFile>();
  try {
    for await (const request of call.iterator({ destroyOnReturn: false })) {
      const { host: validHost } = request;
      const messageResponse = descriptors.answer(request, sent);
      const response = { validHost, originalRequest: request, messageResponse };
      if (!call.write(create(ServerReflectionResponseSchema, response))) {
        await once(call, 'drain', { signal: ended.signal });
      }
    }
    call.end();
  } catch {
    // The caller has left, or sent what is no request: grpc-js has ended the call.
  }
}

/** The descriptors of services by the names that reflection asks for. */
class Descriptors {
  readonly #services: readonly DescService[];
  readonly #files = new Map<string, DescFile>();
  readonly #fileOfSymbol = new Map<string, DescFile>();
  /** By the type that is extended. */
  readonly #extensions = new Map<string, Map<number, DescFile>>();

  constructor(services: readonly DescService[]) {
    this.#services = services;
    for (const { file } of services) this.#add(file);
    this.#add(file_google_rpc_error_details);
    this.#add(file_google_rpc_status);
  }

  #add(file: DescFile): void {
    if (this.#files.has(file.proto.name)) return;
    this.#files.set(file.proto.name, file);
    for (const type of nestedTypes(file)) {
      this.#fileOfSymbol.set(type.typeName, file);
      for (const member of membersOf(type)) this.#fileOfSymbol.set(member, file);
      if (type.kind !== 'extension') continue;
      const numbers = this.#extensions.get(type.extendee.typeName) ?? new Map<number, DescFile>();
      this.#extensions.set(type.extendee.typeName, numbers.set(type.number, file));
    }
    for (const dependency of file.dependencies) this.#add(dependency);
  }

  /** @param sent the files that the stream has had: dependencies among them are not sent again. */
  answer({ messageRequest: { case: kind, value } }: ServerReflectionRequest, sent: Set<DescFile>): Answer {
    switch (kind) {
      case 'listServices': {
        const service = this.#services.map(({ typeName: name }) => ({ name }));
        return { case: 'listServicesResponse', value: { service } };
      }
      case 'fileByFilename':
        return withDependencies(this.#files.get(value), sent);
      case 'fileContainingSymbol':
        return withDependencies(this.#fileOfSymbol.get(value), sent);
      case 'fileContainingExtension':
        return withDependencies(this.#extensions.get(value.containingType)?.get(value.extensionNumber), sent);
      case 'allExtensionNumbersOfType': {
        const numbers = this.#extensions.get(value);
        if (numbers === undefined && !this.#fileOfSymbol.has(value)) return notFound;
        const extensionNumber = [...(numbers?.keys() ?? [])];
        return { case: 'allExtensionNumbersResponse', value: { baseTypeName: value, extensionNumber } };
      }
      default:
        return refused(status.INVALID_ARGUMENT, 'the request asks for nothing');
    }
  }
}

/** The full names of what a type has. The values of an enum stand beside it, not inside of it. */
function membersOf(type: DescMessage | DescEnum | DescExtension | DescService): string[] {
  switch (type.kind) {
    case 'message':
      return [...type.fields, ...type.oneofs].map(({ name }) => `${type.typeName}.${name}`);
    case 'enum':
      return type.values.map(({ name }) => [...type.typeName.split('.').slice(0, -1), name].join('.'));
    case 'service':
      return type.methods.map(({ name }) => `${type.typeName}.${name}`);
    default:
      return [];
  }
}

/** A file, whether it was sent or not, with those that it depends on, as far as they were not. */
function withDependencies(file: DescFile | undefined, sent: Set<DescFile>): Answer {
  if (file === undefined) return notFound;
  sent.delete(file);
  const files: DescFile[] = [];
  const collect = (each: DescFile) => {
    if (sent.has(each)) return;
    sent.add(each);
    files.push(each);
    each.dependencies.forEach(collect);
  };
  collect(file);
  const fileDescriptorProto = files.map(encode);
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto } };
}

const encoded = new WeakMap<DescFile, Uint8Array>();

/** Encoded once, so that answers that wait for a slow reader share their bytes. */
function encode(file: DescFile): Uint8Array {
  const bytes = encoded.get(file) ?? toBinary(FileDescriptorProtoSchema, file.proto);
  encoded.set(file, bytes);
  return bytes;
}

const refused = (errorCode: number, errorMessage: string): Answer => ({
  case: 'errorResponse',
  value: { errorCode, errorMessage },
});

const notFound = refused(status.NOT_FOUND, 'not found');
