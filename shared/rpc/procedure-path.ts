import type { DescMethod } from '@bufbuild/protobuf';

/** The path of a procedure in gRPC, Connect and gRPC-Web, such as `/slot.v1.SlotService/GetSlots`. */
export function procedurePath({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}
