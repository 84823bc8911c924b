import type { AbortSignalLike } from '../cancellation/signal.ts';
import { endsConnection } from './errors.ts';
import type { Send } from './pool/connections.ts';
import { type BoundStatement, statement } from './statement.ts';

/** Runs statements: on a connection of the pool, or on the one of a transaction. */
export interface Queryable {
  /** Runs one statement. Throws a ConnectError that holds nothing of the driver (design 3). */
  query<Row>(statement: BoundStatement<Row>): Promise<Row[]>;
}

/** Makes a statement when it can be sent; undefined when nobody needs it any more. */
export type LateStatement<Row> = () => BoundStatement<Row> | undefined;

/** Runs statements and batches: each for itself, or all in an open transaction. */
export interface BatchQueryable extends Queryable {
  /** Makes a statement when a connection has been lent for it, and runs it. Resolves with no rows when it makes none. */
  queryLate<Row>(make: LateStatement<Row>): Promise<Row[]>;
  /**
   * Runs statements in one transaction and one round trip: when one fails, all are undone. Resolves with
   * the rows of `last`, which runs without a transaction when nothing comes before it. Rejects with the
   * error of the first statement that failed.
   */
  batch<Row>(before: readonly BoundStatement<unknown>[], last: BoundStatement<Row>): Promise<Row[]>;
}

/** How a transaction runs. */
export interface TransactionOptions<Result> {
  /** Unset: `read committed`. */
  readonly isolation?: keyof typeof begin;
  /** A statement that travels with the begin. When it fails, all that `work` sends fails, too. */
  readonly first?: BoundStatement<unknown> | undefined;
  /** Makes the last statement, which travels with the commit, from the result of the work. */
  last?(result: Result): BoundStatement<unknown>;
}

/** Runs a batch on a connection, as `BatchQueryable` says. */
export async function runBatch<Row>(
  run: Send,
  before: readonly BoundStatement<unknown>[],
  last: BoundStatement<Row>,
): Promise<Row[]> {
  if (before.length === 0) return run(last);
  const sent = [begin['read committed'](), ...before].map(run);
  const rows = run(last);
  // The connection goes to another call next, so all have to have ended.
  await allEnded([...sent, rows, run(commit())]);
  return rows;
}

/** Runs a transaction on a connection, as `Database.transaction` says, until the signal aborts. */
export async function runTransaction<Result>(
  run: Send,
  signal: AbortSignalLike,
  work: (tx: BatchQueryable) => Promise<Result>,
  { isolation = 'read committed', first, last }: TransactionOptions<Result>,
): Promise<Result> {
  // Sent together with the first statement of `work`, without waiting for an answer.
  const opening = allEnded([begin[isolation](), ...(first === undefined ? [] : [first])].map(run));
  opening.catch(() => undefined);
  let beginning = 0;
  let hasFailed = false;
  let isEnding = false;
  const tx: BatchQueryable = {
    query: (statement) => tx.batch([], statement),
    async queryLate(make) {
      const statement = make();
      return statement === undefined ? [] : tx.query(statement);
    },
    async batch(before, last) {
      const anew = hasFailed ? [rollback(), begin[isolation]()] : [];
      if (hasFailed) beginning += 1;
      hasFailed = false;
      const own = beginning;
      const sent = [...anew, ...before].map(run);
      const rows = run(last);
      try {
        await allEnded([opening, ...sent, rows]);
      } catch (error) {
        // One that was sent beside it may have begun anew.
        hasFailed ||= own === beginning;
        throw error;
      }
      return rows;
    },
  };
  try {
    const result = await work(tx);
    await opening;
    if (hasFailed) throw new Error('the transaction is to be committed after a statement that failed');
    const closing = last === undefined ? [] : [run(last(result))];
    isEnding = true;
    // Behind a statement that has failed, a commit rolls back.
    await allEnded([...closing, run(commit())]);
    return result;
  } catch (error) {
    // Otherwise the connection is closed, which rolls back, too.
    if (!isEnding && !signal.aborted && !endsConnection(error)) await run(rollback()).catch(() => undefined);
    throw error;
  }
}

/** Waits until all statements have ended. Rejects with the error of the first that failed, which the later ones follow from. */
async function allEnded(sent: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

const begin = {
  'read committed': statement<never>('begin', 'begin'),
  'repeatable read': statement<never>('beginRepeatableRead', 'begin isolation level repeatable read'),
};
const commit = statement<never>('commit', 'commit');
const rollback = statement<never>('rollback', 'rollback');
