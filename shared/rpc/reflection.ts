import { type DescFile, type DescService, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { ReflectionService } from '@grpc/reflection';
import { service as healthService } from 'grpc-health-check';

/** Server reflection (`v1` and `v1alpha`) over the services given and the health service. */
export function createReflection(services: readonly DescService[]): ReflectionService {
  const files = new Map<string, DescFile>();
  const collect = (file: DescFile) => {
    if (files.has(file.name)) return;
    files.set(file.name, file);
    file.dependencies.forEach(collect);
  };
  for (const { file } of services) collect(file);
  const fileDescriptorProtos = [...files.values()].map((file) =>
    Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)),
  );
  return new ReflectionService({
    services: { format: 'Protocol Buffer 3 DescriptorProto', type: {}, fileDescriptorProtos },
    'grpc.health.v1.Health': healthService,
    ...healthTypes(),
  });
}

/** The health service's own types, which hold the bytes of its file. */
function healthTypes() {
  return Object.fromEntries(Object.values(healthService).map((method) => [method.path, method.requestType]));
}
