import type { DescMethod } from '@bufbuild/protobuf';

/** The full name of a procedure, such as `slot.v1.SlotService/GetSlots`. */
export function procedureName({ parent, name }: DescMethod): string {
  return `${parent.typeName}/${name}`;
}

/** The path of a procedure in gRPC, Connect and gRPC-Web, such as `/slot.v1.SlotService/GetSlots`. */
export function procedurePath(method: DescMethod): string {
  return `/${procedureName(method)}`;
}
