import { create, type DescMessage, type DescMethod, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  type BadRequest_FieldViolation,
  BadRequestSchema,
  ErrorInfoSchema,
} from '../gen/google/rpc/error_details_pb.ts';

/** A row of an error table: what a caller gets when a rule is broken (design 3). */
export interface ErrorRow {
  /** Stable, UPPER_SNAKE_CASE: programs branch on it. */
  readonly reason: string;
  readonly code: Code;
  /** May hold `<name>` for each parameter. */
  readonly message: string;
}

/** The domain of every `google.rpc.ErrorInfo` that leaves this project. */
export const errorDomain = 'delivery-admin';

/** What both services may answer, whatever the procedure. */
export const commonErrors = {
  authenticationRequired: {
    reason: 'AUTHENTICATION_REQUIRED',
    code: Code.Unauthenticated,
    message: 'Authentication required',
  },
  keysUnavailable: {
    reason: 'IDENTITY_PROVIDER_UNAVAILABLE',
    code: Code.Unavailable,
    message: 'The identity provider is unavailable',
  },
  invalidRequest: {
    reason: 'INVALID_REQUEST',
    code: Code.InvalidArgument,
    message: '<problem>',
  },
  messageTooLarge: {
    reason: 'MESSAGE_TOO_LARGE',
    code: Code.ResourceExhausted,
    message: 'The message is larger than 4 MiB',
  },
  overloaded: {
    reason: 'OVERLOADED',
    code: Code.ResourceExhausted,
    message: 'Too many calls at once - please try again later',
  },
  unimplemented: {
    reason: 'UNIMPLEMENTED',
    code: Code.Unimplemented,
    message: '<method> is not implemented',
  },
  deadlineExceeded: {
    reason: 'DEADLINE_EXCEEDED',
    code: Code.DeadlineExceeded,
    message: 'Deadline exceeded',
  },
  stopping: { reason: 'STOPPING', code: Code.Unavailable, message: 'The service is stopping' },
  canceled: { reason: 'CANCELED', code: Code.Canceled, message: 'The call was canceled' },
  internal: { reason: 'INTERNAL', code: Code.Internal, message: 'Internal error' },
} as const satisfies Record<string, ErrorRow>;

export interface FailOptions {
  /** Fills the `<name>` places of the row's message. */
  params?: Readonly<Record<string, string>>;
  /** The fields at fault, with what is wrong about each. */
  violations?: readonly Pick<BadRequest_FieldViolation, 'field' | 'description'>[];
  /** Goes to the log, never to the caller. */
  cause?: unknown;
  /** Further entries of the ErrorInfo. */
  metadata?: Readonly<Record<string, string>>;
}

type OutgoingDetail = { desc: DescMessage; value: MessageInitShape<DescMessage> };

/**
 * Makes the error of a table row, with its `google.rpc.ErrorInfo` and, where fields are named, its
 * `google.rpc.BadRequest` (design 3).
 */
export function fail(row: ErrorRow, options: FailOptions = {}): ConnectError {
  const { params = {}, violations, cause, metadata = {} } = options;
  const message = row.message.replace(/<([^<>]+)>/g, (place, name: string) =>
    Object.hasOwn(params, name) ? (params[name] ?? place) : place,
  );
  const details: OutgoingDetail[] = [
    {
      desc: ErrorInfoSchema,
      value: create(ErrorInfoSchema, { reason: row.reason, domain: errorDomain, metadata }),
    },
  ];
  if (violations !== undefined) {
    const value = create(BadRequestSchema, { fieldViolations: [...violations] });
    details.push({ desc: BadRequestSchema, value });
  }
  return new ConnectError(message, row.code, undefined, details, cause);
}

/** An INVALID_ARGUMENT that names one field. */
export function invalidField(field: string, description: string): ConnectError {
  return fail(commonErrors.invalidRequest, {
    params: { problem: `${field}: ${description}` },
    violations: [{ field, description }],
  });
}

/** The INVALID_ARGUMENT for bytes that are no request of this method. */
export function unreadableRequest(method: DescMethod, cause: unknown): ConnectError {
  return fail(commonErrors.invalidRequest, {
    params: { problem: `The request is no ${method.input.typeName}` },
    cause,
  });
}

/** The code as gRPC writes it, such as INVALID_ARGUMENT. */
export function codeName(code: Code): string {
  return Code[code].replace(/(?<!^)([A-Z])/g, '_$1').toUpperCase();
}

/** The ErrorInfo of an error made here; undefined for an error of another making. */
export function errorInfo(error: ConnectError) {
  return error.findDetails(ErrorInfoSchema)[0];
}

/** What an error of connect-node's or grpc-js's own making counts as. */
const rowOfCode = new Map<Code, ErrorRow>(
  [
    commonErrors.invalidRequest,
    commonErrors.messageTooLarge,
    commonErrors.unimplemented,
    commonErrors.deadlineExceeded,
    commonErrors.canceled,
  ].map((row) => [row.code, row]),
);

/**
 * Turns whatever was thrown into an error that may leave the process: one made by `fail` stays as
 * it is, another ConnectError (a library's) keeps its code and message and gains its ErrorInfo, and
 * anything else becomes INTERNAL without its text.
 */
export function toPublicError(thrown: unknown): ConnectError {
  if (!(thrown instanceof ConnectError)) return fail(commonErrors.internal, { cause: thrown });
  if (errorInfo(thrown) !== undefined) return thrown;
  const row = rowOfCode.get(thrown.code) ?? {
    reason: codeName(thrown.code),
    code: thrown.code,
    message: thrown.rawMessage,
  };
  switch (thrown.code) {
    case Code.Internal:
    case Code.Unknown:
      return fail(commonErrors.internal, { cause: thrown });
    case Code.ResourceExhausted:
    case Code.DeadlineExceeded:
      return fail(row, { cause: thrown });
    default:
      return fail({ ...row, message: thrown.rawMessage }, { cause: thrown });
  }
}
