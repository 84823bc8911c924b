import type { DescMethod } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';

/** The HTTP header and gRPC metadata key of the idempotency key. */
export const keyHeader = 'idempotency-key';

/** Whether a procedure writes. Queries have NO_SIDE_EFFECTS in the .proto files, and ignore keys. */
export function isMutation({ idempotency }: DescMethod): boolean {
  return idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}
