import { Code, ConnectError } from '@connectrpc/connect';
import pg from 'pg';
import type { Logger } from 'pino';
import { commonErrors, type ErrorRow, errorInfo, errorRow, fail } from '../errors/errors.ts';

/** The errors that a caller gets when the database fails (design 3). They never include a driver's text. */
export const databaseErrors = {
  unavailable: errorRow('DATABASE_UNAVAILABLE', Code.Unavailable, 'The database is unavailable'),
  poolExhausted: errorRow('DATABASE_POOL_EXHAUSTED', Code.ResourceExhausted, 'Too many calls wait for the database'),
  statementTimeout: errorRow('DATABASE_STATEMENT_TIMEOUT', Code.DeadlineExceeded, 'The database took too long'),
  conflict: errorRow('CONCURRENT_CHANGE', Code.Aborted, 'Another change got in the way - please try again'),
  unstorable: errorRow('VALUE_NOT_STORABLE', Code.InvalidArgument, 'A value cannot be stored'),
  idsExhausted: errorRow('IDS_EXHAUSTED', Code.ResourceExhausted, 'No id is left for a new record'),
  unsound: errorRow(
    'RECORD_NOT_SOUND',
    Code.FailedPrecondition,
    'The record has a value that is out of bounds - it has to be mended first',
  ),
};

/**
 * The constraints behind the rules that a conditional write checks first. A statement that still
 * violates one has lost a race.
 */
const raceConstraints: readonly (string | undefined)[] = [
  'coupons_coupon_code_unique',
  'coupons_created_by_fkey',
  'coupon_batches_created_by_fkey',
  'reserved_coupons_created_by_fkey',
  'product_slots_pkey',
  'users_pkey',
  'products_pkey',
  'product_groups_pkey',
  'orders_pkey',
  'order_statuses_pkey',
  'staff_users_pkey',
  'users_mobile_unique',
  'users_external_id_unique',
  'products_external_id_unique',
  'product_groups_external_id_unique',
  'orders_external_id_unique',
  'orders_user_id_fkey',
];

const serializationFailure = '40001';
const deadlock = '40P01';
const idempotencyKeyConstraint = 'idempotency_keys_pkey';
const integrityViolation = '23';
const diskFull = '53100';
const inFailedTransaction = '25P02';
/** The server has ended the session with the transaction: it was idle, or took longer than `transaction_timeout`. */
const endedTransaction = ['25P03', '25P04'];
const cannotBePrepared = '42';
/** SQLSTATEs for a statement that is already prepared on its session, or unknown there. */
const otherSession = ['42P05', '26000'];
/** The hint that the log and a failed start give for these. */
const poolerHint = 'a pooler in transaction mode: set DATABASE_PREPARE=false';
// PgBouncer's error has no SQLSTATE of its own.
const refusedOption = 'unsupported startup parameter';
const directHint = 'a pooler, which refuses startup options: set DATABASE_DIRECT_URL to the way past it';

/** Whether a statement lost a race: a concurrent one changed the rows that it had checked, or deadlocked with it. */
export function isLostRace(error: unknown): boolean {
  const cause = error instanceof ConnectError ? error.cause : undefined;
  if (!(cause instanceof pg.DatabaseError)) return false;
  return [serializationFailure, deadlock].includes(cause.code ?? '') || raceConstraints.includes(cause.constraint);
}

/**
 * Whether a statement's failure makes its connection unusable: the connection is silent, the server ends it, or the
 * server is no longer the primary. The driver reports the failure before the socket closes, so the connection still
 * looks usable. After some failures PgBouncer closes the connection, because the driver prepares the statement again
 * under a name that PgBouncer considers prepared.
 */
export function endsConnection(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  const { cause } = error;
  const sqlstate = cause instanceof pg.DatabaseError ? (cause.code ?? '') : '';
  const isUnusable = endedTransaction.includes(sqlstate) || sqlstate.startsWith(cannotBePrepared);
  // UpdateSlot wraps every failure in its own error, so the cause decides.
  return isUnusable || endsConnection(cause) || errorInfo(error)?.reason === databaseErrors.unavailable.reason;
}

/** Whether a statement timed out, even if UpdateSlot's own error wraps the timeout. */
export function tookTooLong(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  return errorInfo(error)?.reason === databaseErrors.statementTimeout.reason || tookTooLong(error.cause);
}

/** Whether PostgreSQL found its disk full. */
export function foundDiskFull(error: Error): boolean {
  return error instanceof pg.DatabaseError && error.code === diskFull;
}

/**
 * Logs a driver's error in full and converts it into the error that a caller gets. Only this file knows
 * SQLSTATEs and constraint names.
 */
export function toDatabaseError(error: unknown, logger: Logger, statement?: string): ConnectError {
  const row = rowOf(error);
  // Expected failures: a retry finds its idempotency key taken, or an earlier statement of the
  // transaction failed and was reported.
  const isExpected =
    error instanceof pg.DatabaseError &&
    (error.code === inFailedTransaction || error.constraint === idempotencyKeyConstraint);
  if (isExpected) return fail(databaseErrors.conflict, { cause: error });
  // A violated constraint may mean a lost race, which `conditionalWrite` handles.
  const expected = error instanceof pg.DatabaseError && (error.code ?? '').startsWith(integrityViolation);
  const isFault = row.code === Code.Internal || row === databaseErrors.idsExhausted;
  const level = isFault && !expected ? 'error' : 'warn';
  logger[level]({ err: error, statement, reason: row.reason }, poolerProblem(error) ?? 'a database call failed');
  return fail(row, { cause: error });
}

/** Returns a hint for driver errors that only a pooler causes; undefined for other errors. */
export function poolerProblem(error: unknown): string | undefined {
  const cause = error instanceof ConnectError ? error.cause : error;
  if (!(cause instanceof pg.DatabaseError)) return undefined;
  if (cause.message.startsWith(refusedOption)) return directHint;
  return otherSession.includes(cause.code ?? '') ? poolerHint : undefined;
}

/** Returns why the server refuses a connection, for the operator of a start; undefined if it has not answered. */
export function refusalOf(error: unknown): string | undefined {
  const cause = error instanceof ConnectError ? error.cause : error;
  return cause instanceof pg.DatabaseError ? cause.message : undefined;
}

function rowOf(error: unknown): ErrorRow {
  // Any error that PostgreSQL did not send is a failed connection.
  if (!(error instanceof pg.DatabaseError)) return databaseErrors.unavailable;
  const sqlstate = error.code ?? '';
  if (endedTransaction.includes(sqlstate)) return databaseErrors.statementTimeout;
  switch (sqlstate) {
    case '53300': // too_many_connections
      return databaseErrors.poolExhausted;
    case '57014': // query_canceled by statement_timeout; a caller's own cancellation is handled earlier
      return databaseErrors.statementTimeout;
    case serializationFailure:
    case deadlock:
    case '55P03': // lock_not_available by lock_timeout
    case '72000': // snapshot_too_old, before PostgreSQL 17
      return databaseErrors.conflict;
    case '2200H': // sequence_generator_limit_exceeded
      return databaseErrors.idsExhausted;
    case '23514': // check_violation: no request can cause it, but a row older than the check can (migration 0015)
      return databaseErrors.unsound;
    case '25006': // read_only_sql_transaction: the primary has become a standby
    case '55000': // object_not_in_prerequisite_state: it is a standby, which does not tell its place in the log
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
 * Returns the message of an error thrown while a connection was opened. A connection refused at several addresses is an
 * AggregateError without a message; its first error stands for all. A pooler's refusal has its hint.
 */
export function connectionErrorMessage(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return poolerProblem(first) ?? (first instanceof Error ? first.message : String(first));
}
