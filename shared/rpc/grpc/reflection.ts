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
import { type Server, type ServerDuplexStream, type ServiceDefinition, status } from '@grpc/grpc-js';
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
import { procedurePath } from '../procedure.ts';

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

type MessageResponse = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>['messageResponse']>;

/** The descriptors of services and their dependencies, indexed for reflection. */
export class Descriptors {
  readonly #services: readonly DescService[];
  readonly #files = new Map<string, DescFile>();
  readonly #fileOfSymbol = new Map<string, DescFile>();
  /** The files of extensions, by extended type, then by field number. */
  readonly #extensions = new Map<string, Map<number, DescFile>>();

  constructor(services: readonly DescService[]) {
    this.#services = services;
    for (const { file } of services) this.#add(file);
    // No procedure refers to the types of error details, so they are added explicitly.
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

  /**
   * Answers one request of a reflection stream.
   *
   * @param sent the files that the stream has already sent. They are not repeated as dependencies. The files
   * of this response are added.
   */
  lookUp({ messageRequest: { case: kind, value } }: ServerReflectionRequest, sent: Set<DescFile>): MessageResponse {
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
        return errorResponse(status.INVALID_ARGUMENT, 'the request asks for nothing');
    }
  }
}

/** Returns the full names of a type's members. Protobuf scopes enum values beside their enum, not inside it. */
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

/** Responds with a file, even if it was sent before, and with its dependencies that were not. */
function withDependencies(file: DescFile | undefined, sent: Set<DescFile>): MessageResponse {
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
  const fileDescriptorProto = files.map(encodeOnce);
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto } };
}

const encodedFiles = new WeakMap<DescFile, Uint8Array>();

/** Encodes each file once, so that responses waiting for slow readers share the bytes. */
function encodeOnce(file: DescFile): Uint8Array {
  const bytes = encodedFiles.get(file) ?? toBinary(FileDescriptorProtoSchema, file.proto);
  encodedFiles.set(file, bytes);
  return bytes;
}

const errorResponse = (errorCode: number, errorMessage: string): MessageResponse => ({
  case: 'errorResponse',
  value: { errorCode, errorMessage },
});

const notFound = errorResponse(status.NOT_FOUND, 'not found');
