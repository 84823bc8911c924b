import pg from 'pg';
import type { Logger } from 'pino';
import type { AbortSignalLike } from '../cancellation/signal.ts';
import type { DatabaseConfig } from '../config/config.ts';
import { fail } from '../errors/errors.ts';
import type { Caller } from '../fairness/caller.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { cancelStatement } from './cancel.ts';
import { databaseErrors, endsConnection, toDatabaseError } from './errors.ts';
import { type BoundStatement, statement } from './statement.ts';

// A Date goes to the server in UTC: in the process's zone its old offsets lose their seconds.
pg.defaults.parseInputDatesAsUTC = true;

/** Runs statements: on a connection of the pool, or on the one of a transaction. */
export interface Queryable {
  /** Runs one statement. Throws a ConnectError that holds nothing of the driver (design 3). */
  query<Row>(statement: BoundStatement<Row>): Promise<Row[]>;
}

/** Runs statements that need no transaction of their own. */
export interface BatchQueryable extends Queryable {
  /**
   * Runs statements in one transaction and one round trip: when one fails, all are undone. Resolves with
   * the rows of `last`, which runs without a transaction when nothing comes before it. Rejects with the
   * error of the first statement that failed.
   */
  batch<Row>(before: readonly BoundStatement<unknown>[], last: BoundStatement<Row>): Promise<Row[]>;
}

// As many callers as a process has calls: admission refuses the rest, which costs less. The timeouts bound
// how long they wait for a slow database.
const waitersPerConnection = 100;

/** The connection pool of one process. */
export class Database {
  readonly #pool: pg.Pool;
  readonly #config: DatabaseConfig;
  readonly #maxWaiting: number;
  readonly #logger: Logger;
  readonly #tracing: Tracing | undefined;

  constructor(config: DatabaseConfig, logger: Logger, tracing?: Tracing) {
    this.#config = config;
    this.#logger = logger;
    this.#tracing = tracing;
    this.#maxWaiting = config.poolSize * waitersPerConnection;
    this.#pool = new pg.Pool({
      connectionString: config.url,
      application_name: config.applicationName,
      max: config.poolSize,
      // A server keeps its connections; a timer for each release would be a part of each call.
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: config.connectionTimeoutMs,
      statement_timeout: config.statementTimeoutMs,
      idle_in_transaction_session_timeout: config.statementTimeoutMs,
      // The statements of a batch travel together.
      pipeline: true,
    });
    // Without a listener, a connection lost between statements would end the process.
    this.#pool.on('connect', (client) => {
      client.on('error', (error) => logger.warn({ err: error }, 'a database connection was lost'));
    });
    this.#pool.on('error', () => undefined);
  }

  /** Runs statements and batches for a caller, each on a connection of its own, until its signal aborts. */
  for(caller: Caller): BatchQueryable {
    const { signal } = caller;
    return {
      query: (statement) => this.#withClient(signal, (client) => this.#run(client, statement, signal)),
      batch: (before, last) =>
        this.#withClient(signal, async (client) => {
          const run = <Row>(statement: BoundStatement<Row>) => this.#run(client, statement, signal);
          if (before.length === 0) return run(last);
          const sent = [begin['read committed'](), ...before].map(run);
          const rows = run(last);
          sent.push(rows, run(commit()));
          // The connection goes to another call next, so all have to have ended. The first failure is the cause.
          const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected');
          if (failed?.status === 'rejected') throw failed.reason;
          return rows;
        }),
    };
  }

  /** Runs `work` in one transaction: commits when it returns, rolls back when it throws or the caller's signal aborts. */
  transaction<Result>(
    { signal }: Caller,
    work: (tx: Queryable) => Promise<Result>,
    isolation: keyof typeof begin = 'read committed',
  ): Promise<Result> {
    return this.#withClient(signal, async (client) => {
      const tx: Queryable = { query: (statement) => this.#run(client, statement, signal) };
      // Sent together with the first statement, without waiting for its answer.
      const begun = tx.query(begin[isolation]());
      begun.catch(() => undefined);
      try {
        const result = await work(tx);
        await begun;
        await tx.query(commit());
        return result;
      } catch (error) {
        // A connection that is lost has nothing to roll back.
        await client.query('rollback').catch(() => undefined);
        throw error;
      }
    });
  }

  /** Whether the database answers before the signal aborts. */
  async answers(signal: AbortSignal): Promise<boolean> {
    // Waits behind all calls, however many: a busy process is still a ready one.
    const asked = this.#withClient(signal, (client) => this.#run(client, ping(), signal), Number.POSITIVE_INFINITY);
    return asked.then(
      () => true,
      () => false,
    );
  }

  /** How many callers wait for a connection. */
  get waiting(): number {
    return this.#pool.waitingCount;
  }

  /** Registers the metrics of the pool. */
  registerMetrics(metrics: Metrics): void {
    const pool = this.#pool;
    const inUse = () => pool.totalCount - pool.idleCount;
    metrics.gauge({ name: 'db_pool_connections', help: 'Connections to the database.', labels: ['state'] }, () => [
      { labels: { state: 'in_use' }, value: inUse() },
      { labels: { state: 'idle' }, value: pool.idleCount },
    ]);
    metrics.gauge({ name: 'db_pool_connections_max', help: 'The most connections.' }, () => pool.options.max);
    metrics.gauge(
      { name: 'db_pool_waiting', help: 'Calls that wait for a connection to the database.' },
      () => this.waiting,
    );
  }

  /** Closes the pool once the statements in flight have ended. */
  async close(): Promise<void> {
    await this.#pool.end();
  }

  /**
   * Lends a connection to `work`, and cancels its statement when the signal aborts.
   *
   * @param maxWaiting how many callers may wait for a connection already.
   */
  #withClient<Result>(
    signal: AbortSignalLike,
    work: (client: pg.PoolClient) => Promise<Result>,
    maxWaiting = this.#maxWaiting,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      // An idle connection takes a waiting caller at once.
      if (this.#pool.waitingCount - this.#pool.idleCount >= maxWaiting) throw fail(databaseErrors.poolExhausted);
      let client: pg.PoolClient | undefined;
      let canceling: Promise<unknown> | undefined;
      const abort = () => {
        if (client === undefined) reject(signal.reason);
        else canceling = this.#cancel(client);
      };
      signal.addEventListener('abort', abort);
      this.#pool.connect((connectError, connected, release) => {
        client = connected;
        if (connected === undefined || signal.aborted) {
          signal.removeEventListener('abort', abort);
          if (connected === undefined) reject(toDatabaseError(connectError, this.#logger));
          else release();
          return;
        }
        const giveBack = (error?: unknown) => {
          signal.removeEventListener('abort', abort);
          // A cancellation may reach the server late: it must not hit the statement of the next call.
          if (canceling === undefined) release(endsConnection(error));
          else void canceling.finally(() => release(true));
        };
        work(connected).then(
          (result) => {
            giveBack();
            resolve(result);
          },
          (error: unknown) => {
            giveBack(error);
            reject(error);
          },
        );
      });
    });
  }

  /** Sends one statement, in a span of its own where calls are traced. */
  #run<Row>(client: pg.PoolClient, statement: BoundStatement<Row>, signal: AbortSignalLike): Promise<Row[]> {
    const send = () => this.#send(client, statement, signal);
    return this.#tracing === undefined ? send() : this.#tracing.statement(statement.name, send);
  }

  #send<Row>(
    client: pg.PoolClient,
    { name, text, values: bound }: BoundStatement<Row>,
    signal: AbortSignalLike,
  ): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const values = [...bound];
      const query = this.#config.prepare ? { name, text, values } : { text, values };
      void client.query<Row & pg.QueryResultRow>(query, (error, result) => {
        // The driver's types leave out that there is no error in most cases.
        if (!(error instanceof Error)) resolve(result.rows);
        else reject(signal.aborted ? signal.reason : toDatabaseError(error, this.#logger, name));
      });
    });
  }

  #cancel(client: pg.PoolClient): Promise<unknown> {
    return cancelStatement(client, this.#config.connectionTimeoutMs).catch((error: unknown) =>
      this.#logger.warn({ err: error }, 'a statement could not be canceled'),
    );
  }
}

const ping = statement<never>('ping', 'select');
const begin = {
  'read committed': statement<never>('begin', 'begin'),
  'repeatable read': statement<never>('beginRepeatableRead', 'begin isolation level repeatable read'),
};
const commit = statement<never>('commit', 'commit');
