import { Code, ConnectError } from '@connectrpc/connect';
import pg from 'pg';
import type { Logger } from 'pino';
import { commonErrors, type ErrorRow, errorInfo, fail } from '../errors/errors.ts';

/** What a caller gets when the database fails (design 3): never a driver's text. */
export const databaseErrors = {
  unavailable: {
    reason: 'DATABASE_UNAVAILABLE',
    code: Code.Unavailable,
    message: 'The database is unavailable',
  },
  poolExhausted: {
    reason: 'DATABASE_POOL_EXHAUSTED',
    code: Code.ResourceExhausted,
    message: 'Too many calls wait for the database',
  },
  statementTimeout: {
    reason: 'DATABASE_STATEMENT_TIMEOUT',
    code: Code.DeadlineExceeded,
    message: 'The database took too long',
  },
  conflict: {
    reason: 'CONCURRENT_CHANGE',
    code: Code.Aborted,
    message: 'Another change got in the way - please try again',
  },
  unstorable: {
    reason: 'VALUE_NOT_STORABLE',
    code: Code.InvalidArgument,
    message: 'A value cannot be stored',
  },
  unsound: {
    reason: 'RECORD_NOT_SOUND',
    code: Code.FailedPrecondition,
    message: 'The record has a value that is out of bounds - it has to be mended first',
  },
} as const satisfies Record<string, ErrorRow>;

/**
 * The constraints behind the rules that a conditional write checks first: a statement that breaks one
 * all the same has lost a race.
 */
const raceConstraints: readonly (string | undefined)[] = [
  'coupons_coupon_code_unique',
  'coupons_created_by_fkey',
  'reserved_coupons_created_by_fkey',
  'product_slots_pkey',
];

const serializationFailure = '40001';
const deadlock = '40P01';
const idempotencyKeyConstraint = 'idempotency_keys_pkey';
const integrityViolation = '23';
const inFailedTransaction = '25P02';
const idleInTransactionTimeout = '25P03';
const cannotBePrepared = '42';
/** A statement is prepared already on its session, or not at all. */
const otherSession = ['42P05', '26000'];
/** What the log and a start say of them. */
const poolerHint = 'a pooler in transaction mode: set DATABASE_PREPARE=false';

/** Whether a statement lost to a concurrent one that changed what it had checked, or with which it deadlocked. */
export function isLostRace(error: unknown): boolean {
  const cause = error instanceof ConnectError ? error.cause : undefined;
  if (!(cause instanceof pg.DatabaseError)) return false;
  return [serializationFailure, deadlock].includes(cause.code ?? '') || raceConstraints.includes(cause.constraint);
}

/**
 * Whether a statement failed because its connection is silent, because the server ends it, or because
 * the server is no primary any more; or in a way after which PgBouncer closes the connection, because the driver prepares the
 * statement anew under a name that PgBouncer takes for prepared. The driver reports the failure before the socket closes, so the
 * connection still looks usable.
 */
export function endsConnection(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  const { cause } = error;
  const sqlstate = cause instanceof pg.DatabaseError ? (cause.code ?? '') : '';
  const isUnusable = sqlstate === idleInTransactionTimeout || sqlstate.startsWith(cannotBePrepared);
  // UpdateSlot has an error of its own for every failure.
  return isUnusable || endsConnection(cause) || errorInfo(error)?.reason === databaseErrors.unavailable.reason;
}

/** Whether a statement took too long, also behind UpdateSlot's error for every failure. */
export function tookTooLong(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  return errorInfo(error)?.reason === databaseErrors.statementTimeout.reason || tookTooLong(error.cause);
}

/**
 * Turns what the driver threw into the error that a caller gets, and logs it whole. The only place
 * that knows SQLSTATEs and constraint names.
 */
export function toDatabaseError(error: unknown, logger: Logger, statement?: string): ConnectError {
  const row = rowOf(error);
  // A retry finds its key taken, or a statement before it in the same transaction has failed, and tells why.
  const isExpected =
    error instanceof pg.DatabaseError &&
    (error.code === inFailedTransaction || error.constraint === idempotencyKeyConstraint);
  if (isExpected) return fail(databaseErrors.conflict, { cause: error });
  // A broken constraint may mean a lost race, which `conditionalWrite` handles.
  const expected = error instanceof pg.DatabaseError && (error.code ?? '').startsWith(integrityViolation);
  const level = row.code === Code.Internal && !expected ? 'error' : 'warn';
  logger[level]({ err: error, statement, reason: row.reason }, poolerProblem(error) ?? 'a database call failed');
  return fail(row, { cause: error });
}

/** What to do about a driver's error that only a pooler causes; undefined for other errors. */
export function poolerProblem(error: unknown): string | undefined {
  const cause = error instanceof ConnectError ? error.cause : error;
  return cause instanceof pg.DatabaseError && otherSession.includes(cause.code ?? '') ? poolerHint : undefined;
}

function rowOf(error: unknown): ErrorRow {
  // All else is a connection that failed.
  if (!(error instanceof pg.DatabaseError)) return databaseErrors.unavailable;
  const sqlstate = error.code ?? '';
  switch (sqlstate) {
    case '53300': // too_many_connections
      return databaseErrors.poolExhausted;
    case '57014': // query_canceled, by statement_timeout: a caller's own cancellation is seen before
    case idleInTransactionTimeout:
      return databaseErrors.statementTimeout;
    case serializationFailure:
    case deadlock:
      return databaseErrors.conflict;
    case '23514': // check_violation: no request has such values, but a row from before the check may (migration 0015)
      return databaseErrors.unsound;
    case '25006': // read_only_sql_transaction: a primary that became a standby
      return databaseErrors.unavailable;
  }
  switch (sqlstate.slice(0, 2)) {
    case '08': // connection exception
    case '53': // insufficient resources
    case '57': // operator intervention: shutdown, crash, starting up
    case '28': // invalid authorization
    case '3D': // invalid catalog name
      return databaseErrors.unavailable;
    case '22': // data exception
    case '54': // program limit exceeded: an index row, nesting
      return databaseErrors.unstorable;
    default:
      return commonErrors.internal;
  }
}

/**
 * Returns the message of whatever was thrown while a connection was opened. A connection that was refused at
 * several addresses is an AggregateError without a message, so its first error stands for all.
 */
export function connectionErrorMessage(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
