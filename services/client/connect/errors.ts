import { Code, ConnectError } from '@connectrpc/connect';
import { BadRequestSchema, ErrorInfoSchema } from '../../../shared/gen/google/rpc/error_details_pb.ts';
import { Reason } from './reasons.ts';

/** A field of a request that breaks a rule. */
export interface FieldViolation {
  /** The field's path, with its names in the .proto files: `vendor_snippets[1].name`. */
  readonly field: string;
  readonly description: string;
}

/**
 * The reason of a failed call, to be compared with `Reason`. It is that of the cause where an error has one, as UpdateSlot's has. It
 * is empty when the service could not be reached. A service that is newer than this client may give reasons that `Reason` lacks.
 */
export function reasonOf(error: unknown): string {
  const [info] = ConnectError.from(error).findDetails(ErrorInfoSchema);
  return info?.metadata.causeReason || info?.reason || '';
}

/** The fields of the request that a failed call was refused for: 20 at most. */
export function violationsOf(error: unknown): FieldViolation[] {
  const details = ConnectError.from(error).findDetails(BadRequestSchema);
  return details.flatMap(({ fieldViolations }) =>
    fieldViolations.map(({ field, description }) => ({ field, description })),
  );
}

/**
 * Whether the same call may succeed in a moment: the service was not reached, or it was busy. A mutation that is called again needs
 * the idempotency key of the first time, because it may have been carried out.
 */
export function isTransient(error: unknown): boolean {
  const { code, cause } = ConnectError.from(error);
  if (code === Code.Unavailable || code === Code.DeadlineExceeded) return true;
  if (code === Code.ResourceExhausted) return reasonOf(error) === Reason.OVERLOADED;
  // `fetch` did not get an answer.
  return cause instanceof TypeError;
}
