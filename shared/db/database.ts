import type { SpanContext } from '@opentelemetry/api';
import pg from 'pg';
import type { Logger } from 'pino';
import type { AbortSignalLike } from '../cancellation/signal.ts';
import { DatabaseClock } from '../clock/clock.ts';
import type { DatabaseConfig } from '../config/config.ts';
import { fail } from '../errors/errors.ts';
import type { Caller } from '../fairness/caller.ts';
import { FairQueue } from '../fairness/fair-queue.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { cancelStatement } from './cancel.ts';
import { databaseErrors, endsConnection, toDatabaseError } from './errors.ts';
import { beatEveryMs, PacedClient } from './paced-client.ts';
import { type BoundStatement, onlyRow, statement } from './statement.ts';

// A Date goes to the server in UTC: in the process's zone its old offsets lose their seconds.
pg.defaults.parseInputDatesAsUTC = true;

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

/** Who asks the database: a caller, or the process for several calls that share a statement. */
export interface Asking extends Caller {
  /** The spans of the calls that share it. */
  readonly sharing?: readonly SpanContext[];
  /** The caller's open transaction, in which all its statements run. */
  readonly transaction?: BatchQueryable | undefined;
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

// The server ends a statement that takes too long. When its answer does not come either, the connection
// is silent.
const answerGraceMs = 1_000;
const silenceCheckMs = 500;
// How long a call waits for the end of the statement that its abort has canceled.
const cancelGraceMs = 500;

/** The connection pool of one process, which its callers take in turn. */
export class Database {
  /** The server's time. */
  readonly clock = new DatabaseClock();
  readonly #pool: pg.Pool;
  readonly #config: DatabaseConfig;
  readonly #turns: FairQueue;
  readonly #connections = new Set<pg.PoolClient>();
  /** When each connection that is lent was last sent a statement, or has last answered, by a clock of the silence check. */
  readonly #sentAt = new Map<pg.PoolClient, number>();
  readonly #silenceCheck: NodeJS.Timeout;
  readonly #beating: NodeJS.Timeout;
  #nowMs = performance.now();
  #lost = 0;
  readonly #logger: Logger;
  readonly #tracing: Tracing | undefined;

  constructor(config: DatabaseConfig, logger: Logger, tracing?: Tracing) {
    this.#config = config;
    this.#logger = logger;
    this.#tracing = tracing;
    this.#turns = new FairQueue(config.poolSize);
    this.#pool = new pg.Pool({
      connectionString: config.url,
      application_name: config.applicationName,
      // One more, for the question whether the database answers: that must not wait for calls.
      max: config.poolSize + 1,
      keepAlive: true,
      Client: PacedClient,
      // A server keeps its connections; a timer for each release would be a part of each call.
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: config.connectionTimeoutMs,
      statement_timeout: config.statementTimeoutMs,
      idle_in_transaction_session_timeout: config.statementTimeoutMs,
      // The statements of a batch travel together.
      pipeline: true,
    });
    this.#pool.on('remove', (client) => void this.#connections.delete(client));
    this.#pool.on('connect', (client) => {
      this.#connections.add(client);
      // Without a listener, a connection lost between statements would end the process.
      client.on('error', (error) => {
        this.#lost += 1;
        logger.warn({ err: error }, 'a database connection was lost');
      });
    });
    this.#pool.on('error', () => undefined);
    // One check for all is cheaper than a timer for each statement, as the driver has it.
    this.#silenceCheck = setInterval(() => this.#closeSilent(), silenceCheckMs).unref();
    this.#beating = setInterval(() => this.#beatIdle(), beatEveryMs).unref();
  }

  /**
   * Runs statements and batches for a caller until its signal aborts: in its open transaction, or else each on a connection
   * of its own.
   */
  for(caller: Asking): BatchQueryable {
    if (caller.transaction !== undefined) return caller.transaction;
    return {
      query: (statement) => this.#withClient(caller, (client) => this.#run(client, statement, caller)),
      queryLate: (make) =>
        this.#withClient(caller, async (client) => {
          const statement = make();
          return statement === undefined ? [] : this.#run(client, statement, caller);
        }),
      batch: (before, last) =>
        this.#withClient(caller, async (client) => {
          const run = <Row>(statement: BoundStatement<Row>) => this.#run(client, statement, caller);
          if (before.length === 0) return run(last);
          const sent = [begin['read committed'](), ...before].map(run);
          const rows = run(last);
          // The connection goes to another call next, so all have to have ended.
          await allEnded([...sent, rows, run(commit())]);
          return rows;
        }),
    };
  }

  /**
   * Runs `work` in one transaction: commits when it returns, rolls back when it throws or the caller's signal aborts.
   * A statement that fails undoes the whole transaction, also what came before it; the next statement begins it anew. So `work`
   * may run a write again that has lost a race, but must not write with two statements where it goes on after a failure.
   */
  transaction<Result>(
    caller: Caller,
    work: (tx: BatchQueryable) => Promise<Result>,
    { isolation = 'read committed', first, last }: TransactionOptions<Result> = {},
  ): Promise<Result> {
    const { signal } = caller;
    return this.#withClient(caller, async (client) => {
      const query = <Row>(statement: BoundStatement<Row>) => this.#run(client, statement, caller);
      // Sent together with the first statement of `work`, without waiting for an answer.
      const opening = allEnded([begin[isolation](), ...(first === undefined ? [] : [first])].map(query));
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
          const sent = [...anew, ...before].map(query);
          const rows = query(last);
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
        const closing = last === undefined ? [] : [query(last(result))];
        isEnding = true;
        // Behind a statement that has failed, a commit rolls back.
        await allEnded([...closing, query(commit())]);
        return result;
      } catch (error) {
        // Otherwise the connection is closed, which rolls back, too.
        if (!isEnding && !signal.aborted && !endsConnection(error)) await query(rollback()).catch(() => undefined);
        throw error;
      }
    });
  }

  /** Whether the database answers before the signal aborts, however many calls wait for it. Its answer sets `clock`. */
  async answers(signal: AbortSignal): Promise<boolean> {
    const asked = this.#lend({ signal }, async (client) => {
      const sentAtMs = performance.now();
      this.clock.learn(onlyRow(await this.#run(client, ping(), { signal })).nowMs, sentAtMs);
    });
    return asked.then(
      () => true,
      () => false,
    );
  }

  /** How many calls wait for a connection. */
  get waiting(): number {
    return this.#turns.waiting;
  }

  /** Registers the metrics of the pool. */
  registerMetrics(metrics: Metrics): void {
    metrics.gauge({ name: 'db_pool_connections', help: 'Connections to the database.', labels: ['state'] }, () => [
      { labels: { state: 'in_use' }, value: this.#turns.taken },
      { labels: { state: 'idle' }, value: this.#pool.idleCount },
    ]);
    metrics.gauge({ name: 'db_pool_connections_max', help: 'The most connections.' }, () => this.#config.poolSize);
    metrics.gauge(
      { name: 'db_pool_waiting', help: 'Calls that wait for a connection to the database.' },
      () => this.waiting,
    );
    metrics.counter(
      {
        name: 'db_connections_lost_total',
        help: 'Connections of the pool that were closed or silent; others replace them.',
      },
      () => this.#lost,
    );
  }

  /** Closes the pool once the statements in flight have ended. */
  async close(): Promise<void> {
    clearInterval(this.#silenceCheck);
    clearInterval(this.#beating);
    await this.#pool.end();
  }

  /** Lends a connection to `work` when it is the caller's turn. */
  #withClient<Result>(caller: Caller, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    // Most calls find a free connection: they pay for no promise.
    if (!caller.signal.aborted && this.#turns.tryTake(caller.subject)) return this.#lend(caller, work, this.#turns);
    return this.#turns.take(caller).then((isTaken) => {
      if (!isTaken) throw fail(databaseErrors.poolExhausted);
      return this.#lend(caller, work, this.#turns);
    });
  }

  /**
   * Lends a connection to `work`, and cancels its statement when the signal aborts. Then rejects with
   * the reason of the signal, at the latest after the grace time: a silent connection never answers.
   *
   * @param turns gets the caller's turn back when the connection can be lent again, which may be later.
   */
  #lend<Result>(
    { subject, signal }: Caller,
    work: (client: pg.PoolClient) => Promise<Result>,
    turns?: FairQueue,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      let client: pg.PoolClient | undefined;
      let canceling: Promise<unknown> | undefined;
      let giveUp: NodeJS.Timeout | undefined;
      const abort = () => {
        if (client === undefined) return reject(signal.reason);
        canceling = this.#cancel(client);
        giveUp = setTimeout(() => reject(signal.reason), cancelGraceMs);
      };
      signal.addEventListener('abort', abort);
      this.#pool.connect((connectError, connected, release) => {
        client = connected;
        const giveBack = (isLost: boolean) => {
          signal.removeEventListener('abort', abort);
          clearTimeout(giveUp);
          // Who gave up waiting for a connection has none to release, whatever the driver's types say.
          if (connected !== undefined) {
            this.#sentAt.delete(connected);
            release(isLost);
          }
          turns?.release(subject);
        };
        if (connected === undefined || signal.aborted) {
          giveBack(false);
          reject(signal.aborted ? signal.reason : toDatabaseError(connectError, this.#logger));
          return;
        }
        const finish = (error?: unknown) => {
          if (canceling === undefined) giveBack(endsConnection(error));
          // The cancellation may reach the server late: it must not hit the statement of the next call.
          else void canceling.finally(() => giveBack(true));
        };
        work(connected).then(
          (result) => {
            finish();
            // A commit that waits for a synchronous standby ends when it is canceled, and the server reports success.
            if (canceling === undefined) resolve(result);
            else reject(signal.reason);
          },
          (error: unknown) => {
            finish(error);
            reject(error);
          },
        );
      });
    });
  }

  /** Sends one statement, in a span of its own where calls are traced. */
  #run<Row>(client: pg.PoolClient, statement: BoundStatement<Row>, { signal, sharing }: Asking): Promise<Row[]> {
    const send = () => this.#send(client, statement, signal);
    return this.#tracing === undefined ? send() : this.#tracing.statement(statement.name, send, sharing);
  }

  #send<Row>(
    client: pg.PoolClient,
    { name, text, values }: BoundStatement<Row>,
    signal: AbortSignalLike,
  ): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      this.#sentAt.set(client, this.#nowMs);
      // The driver would copy an object that has them all property by property, which takes 5 µs.
      const query = new pg.Query<Row & pg.QueryResultRow>(text, [...values], (error, result) => {
        // The next statement of a pipeline begins only now.
        if (this.#sentAt.has(client)) this.#sentAt.set(client, this.#nowMs);
        // The driver's types leave out that there is no error in most cases.
        if (!(error instanceof Error)) resolve(result.rows);
        else reject(signal.aborted ? signal.reason : toDatabaseError(error, this.#logger, name));
      });
      // A name makes PostgreSQL keep the plan.
      if (this.#config.prepare) Object.assign(query, { name });
      client.query(query);
    });
  }

  /**
   * Closes the connections that do not answer, which ends their statements as DATABASE_UNAVAILABLE. With them go those that
   * are idle: they may be silent for the same reason, and to find that out by a statement on each would take as long again.
   */
  #closeSilent(): void {
    this.#nowMs = performance.now();
    const isSilent = (sentAt: number) => this.#nowMs - sentAt > this.#config.statementTimeoutMs + answerGraceMs;
    if (![...this.#sentAt.values()].some(isSilent)) return;
    for (const client of this.#connections) {
      const sentAt = this.#sentAt.get(client);
      if (sentAt !== undefined && !isSilent(sentAt)) continue;
      // A server whose commit waits for a synchronous standby does not see that the connection is closed.
      if (sentAt !== undefined) void this.#cancel(client);
      if (client instanceof PacedClient) client.destroy();
    }
  }

  /** Nobody waits for an answer on an idle connection, so that only a beat finds out that it is silent. */
  #beatIdle(): void {
    for (const client of this.#connections) {
      if (client instanceof PacedClient && !this.#sentAt.has(client)) void client.beat();
    }
  }

  #cancel(client: pg.PoolClient): Promise<unknown> {
    return cancelStatement(client, this.#config.connectionTimeoutMs).catch((error: unknown) =>
      this.#logger.warn({ err: error }, 'a statement could not be canceled'),
    );
  }
}

/** Waits until all statements have ended. Rejects with the error of the first that failed, which the later ones follow from. */
async function allEnded(sent: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

const ping = statement<{ nowMs: number }>(
  'ping',
  'select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"',
);
const begin = {
  'read committed': statement<never>('begin', 'begin'),
  'repeatable read': statement<never>('beginRepeatableRead', 'begin isolation level repeatable read'),
};
const commit = statement<never>('commit', 'commit');
const rollback = statement<never>('rollback', 'rollback');
