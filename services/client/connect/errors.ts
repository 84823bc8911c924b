import { Code, ConnectError } from '@connectrpc/connect';
import { BadRequestSchema, ErrorInfoSchema } from '../../../shared/gen/google/rpc/error_details_pb.ts';
import { Reason } from './reasons.ts';

/** A request field that breaks a rule. */
export interface FieldViolation {
  /** The field's path, in the names of the .proto files: `vendor_snippets[1].name`. */
  readonly field: string;
  readonly description: string;
}

/**
 * Returns the reason of a failed call, to compare with `Reason`. If the error wraps a cause, as UpdateSlot's does,
 * it is the cause's reason. Empty if the service could not be reached. A service newer than this client may send
 * reasons that `Reason` lacks.
 */
export function reasonOf(error: unknown): string {
  const [info] = ConnectError.from(error).findDetails(ErrorInfoSchema);
  return info?.metadata.causeReason || info?.reason || '';
}

/** Returns the invalid request fields of a failed call, at most 20. */
export function violationsOf(error: unknown): FieldViolation[] {
  const details = ConnectError.from(error).findDetails(BadRequestSchema);
  return details.flatMap(({ fieldViolations }) =>
    fieldViolations.map(({ field, description }) => ({ field, description })),
  );
}

/**
 * Whether the same call may succeed shortly, because the service was unreachable or busy. A mutation may have been
 * executed, so a retry of it must send the same idempotency key.
 */
export function isTransient(error: unknown): boolean {
  const { code, cause } = ConnectError.from(error);
  if (code === Code.Unavailable || code === Code.DeadlineExceeded) return true;
  if (code === Code.ResourceExhausted) return reasonOf(error) === Reason.OVERLOADED;
  // `fetch` got no response.
  return cause instanceof TypeError;
}
