import { create, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  type BadRequest_FieldViolation,
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from '../gen/google/rpc/error_details_pb.ts';

/** A row of an error table: the error that a caller gets when a rule is broken (design 3). */
export interface ErrorRow {
  /** In UPPER_SNAKE_CASE. Stable, because clients branch on it. */
  readonly reason: string;
  readonly code: Code;
  /** May contain `<name>` placeholders. */
  readonly message: string;
}

/** Returns a row of an error table. */
export const errorRow = (reason: string, code: Code, message: string): ErrorRow => ({ reason, code, message });

/** The domain of every `google.rpc.ErrorInfo` that a service sends. */
export const errorDomain = 'delivery-admin';

/** The errors that any procedure of either service may return. */
export const commonErrors = {
  authenticationRequired: errorRow('AUTHENTICATION_REQUIRED', Code.Unauthenticated, 'Authentication required'),
  accessDenied: errorRow('ACCESS_DENIED', Code.Unauthenticated, 'Access denied'),
  keysUnavailable: errorRow('IDENTITY_PROVIDER_UNAVAILABLE', Code.Unavailable, 'The identity provider is unavailable'),
  storageQuota: errorRow(
    'STORAGE_QUOTA',
    Code.ResourceExhausted,
    'Too much was stored in this hour - please try again later',
  ),
  invalidRequest: errorRow('INVALID_REQUEST', Code.InvalidArgument, '<problem>'),
  messageTooLarge: errorRow('MESSAGE_TOO_LARGE', Code.ResourceExhausted, 'The message is larger than 4 MiB'),
  answerTooLarge: errorRow('ANSWER_TOO_LARGE', Code.ResourceExhausted, 'The answer is too large - please ask for less'),
  overloaded: errorRow('OVERLOADED', Code.ResourceExhausted, 'Too many calls at once - please try again later'),
  tooManyStreams: errorRow(
    'TOO_MANY_STREAMS',
    Code.ResourceExhausted,
    'Too many streams at once - please try again later',
  ),
  tooManyRequestBytes: errorRow(
    'TOO_MANY_REQUEST_BYTES',
    Code.ResourceExhausted,
    'Too many large requests at once - please try again later',
  ),
  tooManyUnreadBytes: errorRow(
    'TOO_MANY_UNREAD_BYTES',
    Code.ResourceExhausted,
    'Too many large responses are not read - please read them first',
  ),
  unimplemented: errorRow('UNIMPLEMENTED', Code.Unimplemented, '<method> is not implemented'),
  etagMismatch: errorRow('ETAG_MISMATCH', Code.Aborted, 'The record was changed meanwhile'),
  positionLost: errorRow('POSITION_LOST', Code.FailedPrecondition, 'The position is no longer kept'),
  idempotencyKeyReused: errorRow(
    'IDEMPOTENCY_KEY_REUSED',
    Code.InvalidArgument,
    'The idempotency key came with another request before',
  ),
  deadlineExceeded: errorRow('DEADLINE_EXCEEDED', Code.DeadlineExceeded, 'Deadline exceeded'),
  stopping: errorRow('STOPPING', Code.Unavailable, 'The service is stopping'),
  canceled: errorRow('CANCELED', Code.Canceled, 'The call was canceled'),
  internal: errorRow('INTERNAL', Code.Internal, 'Internal error'),
};

export interface FailOptions {
  /** The values of the `<name>` placeholders in the row's message. */
  params?: Readonly<Record<string, string>>;
  /** The invalid fields, each with the rule that it breaks. */
  violations?: readonly Pick<BadRequest_FieldViolation, 'field' | 'description'>[];
  /** For the log; never sent to the caller. */
  cause?: unknown;
  /** How long the caller should wait before it tries again; undefined if unknown. */
  retryAfterMs?: number;
  /** Additional entries of the ErrorInfo. */
  metadata?: Readonly<Record<string, string>>;
}

type OutgoingDetail = { desc: DescMessage; value: MessageInitShape<DescMessage> };

/**
 * Creates the error of a table row (design 3). Its details are a `google.rpc.ErrorInfo`, with `violations`
 * a `google.rpc.BadRequest`, and with `retryAfterMs` a `google.rpc.RetryInfo`.
 */
export function fail(row: ErrorRow, options: FailOptions = {}): ConnectError {
  const { params = {}, violations, retryAfterMs, cause, metadata = {} } = options;
  const message = row.message.replace(/<([^<>]+)>/g, (placeholder, name: string) =>
    Object.hasOwn(params, name) ? (params[name] ?? placeholder) : placeholder,
  );
  const details: OutgoingDetail[] = [
    { desc: ErrorInfoSchema, value: create(ErrorInfoSchema, { reason: row.reason, domain: errorDomain, metadata }) },
  ];
  if (violations?.length) {
    const value = create(BadRequestSchema, { fieldViolations: [...violations] });
    details.push({ desc: BadRequestSchema, value });
  }
  if (retryAfterMs !== undefined) {
    const value = create(RetryInfoSchema, { retryDelay: durationFromMs(retryAfterMs) });
    details.push({ desc: RetryInfoSchema, value });
  }
  return new ConnectError(message, row.code, undefined, details, cause);
}

/** Creates an INVALID_ARGUMENT; its message is the `problem`. */
export function invalidRequest(problem: string, details: Pick<FailOptions, 'violations' | 'cause'> = {}): ConnectError {
  return fail(commonErrors.invalidRequest, { params: { problem }, ...details });
}

/** Creates an INVALID_ARGUMENT for one field. */
export function invalidField(field: string, description: string): ConnectError {
  return invalidRequest(`${field}: ${description}`, { violations: [{ field, description }] });
}

/** The name of a code as gRPC writes it, such as INVALID_ARGUMENT. */
export function codeName(code: Code): string {
  return Code[code].replace(/(?<!^)([A-Z])/g, '_$1').toUpperCase();
}

/** Returns the ErrorInfo of an error; undefined for an error that `fail` did not create. */
export function errorInfo(error: ConnectError) {
  return error.findDetails(ErrorInfoSchema)[0];
}

/**
 * Converts anything thrown into an error that a caller may see. An error from `fail` stays as it is; everything else
 * becomes INTERNAL without its text.
 */
export function toPublicError(thrown: unknown): ConnectError {
  const isPublic = thrown instanceof ConnectError && errorInfo(thrown) !== undefined;
  return isPublic ? thrown : fail(commonErrors.internal, { cause: thrown });
}
