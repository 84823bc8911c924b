import type { AbortSignalLike } from '../cancellation/signal.ts';
import { endsConnection } from './errors.ts';
import type { Send } from './pool/connections.ts';
import { type BoundStatement, type Queryable, statement } from './statement.ts';

/** How a transaction runs. */
export interface TransactionOptions<Result> {
  /** The default is `read committed`. */
  readonly isolation?: keyof typeof begin;
  /** Builds the last statement from the result of `work`. It is sent together with the commit. */
  last?(result: Result): BoundStatement<unknown>;
}

/** Runs statements on a connection, as `Queryable.pipeline` describes. */
export async function runPipeline<Row>(
  run: Send,
  before: readonly BoundStatement<unknown>[],
  last: BoundStatement<Row>,
): Promise<Row[]> {
  if (before.length === 0) return run(last);
  const sent = [begin['read committed'](), ...before].map(run);
  const rows = run(last);
  // The connection goes to another call next, so every statement must have ended.
  await allEnded([...sent, rows, run(commit())]);
  return rows;
}

/** Runs a transaction on a connection, as `Database.transaction` describes, until the signal aborts. */
export async function runTransaction<Result>(
  run: Send,
  signal: AbortSignalLike,
  work: (tx: Queryable) => Promise<Result>,
  { isolation = 'read committed', last }: TransactionOptions<Result>,
): Promise<Result> {
  // Not awaited, so that it travels with the first statement of `work`.
  const opening = run(begin[isolation]());
  opening.catch(() => undefined);
  let beginning = 0;
  let hasFailed = false;
  let isEnding = false;
  const tx: Queryable = {
    query: (statement) => tx.pipeline([], statement),
    async pipeline(before, last) {
      const anew = hasFailed ? [rollback(), begin[isolation]()] : [];
      if (hasFailed) beginning += 1;
      hasFailed = false;
      const own = beginning;
      const sent = [...anew, ...before].map(run);
      const rows = run(last);
      try {
        await allEnded([opening, ...sent, rows]);
      } catch (error) {
        // A concurrent statement may already have begun a new transaction.
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
    // After a failed statement, the commit rolls back.
    await allEnded([...closing, run(commit())]);
    return result;
  } catch (error) {
    // In the other cases the pool rolls back, or closes the connection.
    if (!isEnding && !signal.aborted && !endsConnection(error)) await run(rollback()).catch(() => undefined);
    throw error;
  }
}

/**
 * Waits until all statements have ended. Rejects with the error of the first failed one, which causes the later errors.
 */
async function allEnded(sent: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

const begin = {
  'read committed': statement<never>('begin', 'begin isolation level read committed'),
  'repeatable read': statement<never>('beginRepeatableRead', 'begin isolation level repeatable read'),
};
const commit = statement<never>('commit', 'commit');
const rollback = statement<never>('rollback', 'rollback');
