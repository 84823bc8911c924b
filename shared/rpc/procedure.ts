import type { DescMethod } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';

/** The full name of a procedure, such as `slot.v1.SlotService/GetSlots`. */
export function procedureName({ parent, name }: DescMethod): string {
  return `${parent.typeName}/${name}`;
}

/** The path of a procedure in gRPC, Connect and gRPC-Web, such as `/slot.v1.SlotService/GetSlots`. */
export function procedurePath(method: DescMethod): string {
  return `/${procedureName(method)}`;
}

/** The HTTP header and gRPC metadata key of the idempotency key. */
export const keyHeader = 'idempotency-key';

/** Whether a procedure writes. Queries have NO_SIDE_EFFECTS in the .proto files, and ignore keys. */
export function isMutation({ idempotency }: DescMethod): boolean {
  return idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}
