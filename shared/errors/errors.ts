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

/** The domain of every `google.rpc.ErrorInfo` that a service sends. */
export const errorDomain = 'delivery-admin';

/** The errors that any procedure of either service may return. */
export const commonErrors = {
  authenticationRequired: {
    reason: 'AUTHENTICATION_REQUIRED',
    code: Code.Unauthenticated,
    message: 'Authentication required',
  },
  accessDenied: { reason: 'ACCESS_DENIED', code: Code.Unauthenticated, message: 'Access denied' },
  keysUnavailable: {
    reason: 'IDENTITY_PROVIDER_UNAVAILABLE',
    code: Code.Unavailable,
    message: 'The identity provider is unavailable',
  },
  storageQuota: {
    reason: 'STORAGE_QUOTA',
    code: Code.ResourceExhausted,
    message: 'Too much was stored in this hour - please try again later',
  },
  invalidRequest: { reason: 'INVALID_REQUEST', code: Code.InvalidArgument, message: '<problem>' },
  messageTooLarge: {
    reason: 'MESSAGE_TOO_LARGE',
    code: Code.ResourceExhausted,
    message: 'The message is larger than 4 MiB',
  },
  answerTooLarge: {
    reason: 'ANSWER_TOO_LARGE',
    code: Code.ResourceExhausted,
    message: 'The answer is too large - please ask for less',
  },
  overloaded: {
    reason: 'OVERLOADED',
    code: Code.ResourceExhausted,
    message: 'Too many calls at once - please try again later',
  },
  tooManyStreams: {
    reason: 'TOO_MANY_STREAMS',
    code: Code.ResourceExhausted,
    message: 'Too many streams at once - please try again later',
  },
  tooManyRequestBytes: {
    reason: 'TOO_MANY_REQUEST_BYTES',
    code: Code.ResourceExhausted,
    message: 'Too many large requests at once - please try again later',
  },
  tooManyUnreadBytes: {
    reason: 'TOO_MANY_UNREAD_BYTES',
    code: Code.ResourceExhausted,
    message: 'Too many large responses are not read - please read them first',
  },
  unimplemented: { reason: 'UNIMPLEMENTED', code: Code.Unimplemented, message: '<method> is not implemented' },
  etagMismatch: { reason: 'ETAG_MISMATCH', code: Code.Aborted, message: 'The record was changed meanwhile' },
  idempotencyKeyReused: {
    reason: 'IDEMPOTENCY_KEY_REUSED',
    code: Code.InvalidArgument,
    message: 'The idempotency key came with another request before',
  },
  deadlineExceeded: { reason: 'DEADLINE_EXCEEDED', code: Code.DeadlineExceeded, message: 'Deadline exceeded' },
  stopping: { reason: 'STOPPING', code: Code.Unavailable, message: 'The service is stopping' },
  canceled: { reason: 'CANCELED', code: Code.Canceled, message: 'The call was canceled' },
  internal: { reason: 'INTERNAL', code: Code.Internal, message: 'Internal error' },
} as const satisfies Record<string, ErrorRow>;

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
