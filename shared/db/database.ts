import pg from 'pg';
import type { Logger } from 'pino';
import type { AbortSignalLike } from '../cancellation/signal.ts';
import type { DatabaseConfig } from '../config/config.ts';
import { fail } from '../errors/errors.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { cancelStatement } from './cancel.ts';
import { databaseErrors, endsConnection, toDatabaseError } from './errors.ts';

// A Date goes to the server in UTC: in the process's zone its old offsets lose their seconds.
pg.defaults.parseInputDatesAsUTC = true;

/** A named statement and the shape of its rows; the name makes PostgreSQL keep its plan. */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** Only a type: carries `Row` from the statement to its result. */
  readonly row?: Row;
}

/** Declares a statement. Its name is that of the function or constant that holds it. */
export function statement<Row>(name: string, text: string): Statement<Row> {
  return { name, text };
}

/** What a rule runs its statements on: a pool, or the one connection of a transaction. */
export interface Queryable {
  /** Runs one statement. Throws a ConnectError that holds nothing of the driver (design 3). */
  query<Row>(statement: Statement<Row>, values?: readonly unknown[]): Promise<Row[]>;
}

/** A statement with its values, to be run with others in one batch. */
export interface BoundStatement<Row> {
  readonly statement: Statement<Row>;
  readonly values: readonly unknown[];
}

export function bind<Row>(statement: Statement<Row>, values: readonly unknown[]): BoundStatement<Row> {
  return { statement, values };
}

/** What a rule runs on that needs no transaction of its own. */
export interface Connection extends Queryable {
  /**
   * Runs statements in one transaction and one round trip, none waiting for the rows of the one
   * before: when one fails, all are undone. Gives the rows of the last one, which needs no
   * transaction when it is alone.
   */
  batch<Row>(before: readonly BoundStatement<unknown>[], last: BoundStatement<Row>): Promise<Row[]>;
}

// As many as a process has calls: when the processor is the limit, admission is to refuse, which costs
// less. What waits for a slow database is bounded by its time.
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
      // Statements that don't wait for one another travel together: see `batch`.
      pipeline: true,
    });
    // Without a listener the loss of a connection would end the process, also between statements.
    this.#pool.on('connect', (client) => {
      client.on('error', (error) => logger.warn({ err: error }, 'a database connection was lost'));
    });
    this.#pool.on('error', () => undefined);
  }

  /** Statements and batches that end with the signal. */
  withSignal(signal: AbortSignalLike): Connection {
    return {
      query: (statement, values) => this.#query(signal, statement, values),
      batch: (before, last) =>
        this.#withClient(signal, async (client) => {
          if (before.length === 0) return this.#run(client, last.statement, last.values, signal);
          const run = <Row>({ statement, values }: BoundStatement<Row>) => this.#run(client, statement, values, signal);
          const sent = [bind(begin['read committed'], []), ...before].map(run);
          const rows = run(last);
          sent.push(rows, run(bind(commit, [])));
          // All have to have ended before the connection is another's; the first failure tells why.
          const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected');
          if (failed?.status === 'rejected') throw failed.reason;
          return rows;
        }),
    };
  }

  /**
   * Runs `work` in one transaction: committed when it returns, undone when it throws or the signal
   * aborts.
   */
  transaction<Result>(
    signal: AbortSignalLike,
    work: (tx: Queryable) => Promise<Result>,
    isolation: keyof typeof begin = 'read committed',
  ): Promise<Result> {
    return this.#withClient(signal, async (client) => {
      const tx: Queryable = {
        query: (statement, values) => this.#run(client, statement, values, signal),
      };
      // Travels with the first statement, whose failure tells of its own.
      const begun = this.#run(client, begin[isolation], [], signal);
      begun.catch(() => undefined);
      try {
        const result = await work(tx);
        await begun;
        await this.#run(client, commit, [], signal);
        return result;
      } catch (error) {
        // On a connection that is gone there is nothing to undo.
        await client.query('rollback').catch(() => undefined);
        throw error;
      }
    });
  }

  /** Whether the database answers before the signal aborts. */
  async answers(signal: AbortSignal): Promise<boolean> {
    // Behind all who wait already: a process with much to do is not one that can't do it.
    const run = (client: pg.PoolClient) => this.#run(client, ping, [], signal);
    return this.#withClient(signal, run, Number.POSITIVE_INFINITY).then(
      () => true,
      () => false,
    );
  }

  /** How many callers wait for a connection now. */
  get waiting(): number {
    return this.#pool.waitingCount;
  }

  /** Declares the metrics of the pool. */
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

  /** Lends a connection to `work`, and cancels what it runs when the signal aborts. */
  async #withClient<Result>(
    signal: AbortSignalLike,
    work: (client: pg.PoolClient) => Promise<Result>,
    maxWaiting = this.#maxWaiting,
  ): Promise<Result> {
    signal.throwIfAborted();
    this.#refuseToWait(maxWaiting);
    const client = await this.#connect(signal);
    let canceling: Promise<unknown> | undefined;
    const cancel = () => {
      canceling = this.#cancel(client);
    };
    signal.addEventListener('abort', cancel);
    let failure: unknown;
    try {
      return await work(client);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      signal.removeEventListener('abort', cancel);
      if (canceling !== undefined) await canceling;
      // A cancellation can reach the server late: it must not hit the connection's next user.
      client.release(signal.aborted || endsConnection(failure));
    }
  }

  /** A connection of the pool; one that comes after the signal goes straight back. */
  async #connect(signal: AbortSignalLike): Promise<pg.PoolClient> {
    const connecting = this.#pool.connect().catch((error: unknown) => {
      throw toDatabaseError(error, this.#logger);
    });
    // One that is idle is there at once.
    if (this.#pool.idleCount >= this.#pool.waitingCount) return connecting;
    let stopWaiting: (() => void) | undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      stopWaiting = () => reject(signal.reason);
      signal.addEventListener('abort', stopWaiting);
    });
    try {
      return await Promise.race([connecting, aborted]);
    } catch (error) {
      connecting.then((client) => client.release()).catch(() => undefined);
      throw error;
    } finally {
      if (stopWaiting) signal.removeEventListener('abort', stopWaiting);
    }
  }

  /** One statement by itself: what most calls consist of, so with nothing that it can do without. */
  #query<Row>(
    signal: AbortSignalLike,
    statement: Statement<Row>,
    values: readonly unknown[] | undefined,
  ): Promise<Row[]> {
    if (this.#tracing !== undefined) {
      return this.#withClient(signal, (client) => this.#run(client, statement, values, signal));
    }
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      this.#refuseToWait(this.#maxWaiting);
      let client: pg.PoolClient | undefined;
      let canceling: Promise<unknown> | undefined;
      const abort = () => {
        if (client === undefined) reject(signal.reason);
        else canceling = this.#cancel(client);
      };
      signal.addEventListener('abort', abort);
      this.#pool.connect((failure, connected, release) => {
        client = connected;
        if (connected === undefined || signal.aborted) {
          signal.removeEventListener('abort', abort);
          if (connected === undefined) reject(toDatabaseError(failure, this.#logger));
          else release();
          return;
        }
        this.#send(connected, statement, values, signal, (error, rows) => {
          signal.removeEventListener('abort', abort);
          // A cancellation can reach the server late: it must not hit the connection's next user.
          if (canceling === undefined) release(signal.aborted || endsConnection(error));
          else void canceling.finally(() => release(true));
          if (error === undefined) resolve(rows);
          else reject(error);
        });
      });
    });
  }

  /** Throws RESOURCE_EXHAUSTED when as many wait for a connection already. */
  #refuseToWait(maxWaiting: number): void {
    if (this.#pool.waitingCount - this.#pool.idleCount >= maxWaiting) throw fail(databaseErrors.poolExhausted);
  }

  #run<Row>(
    client: pg.PoolClient,
    statement: Statement<Row>,
    values: readonly unknown[] | undefined,
    signal: AbortSignalLike,
  ): Promise<Row[]> {
    const send = () =>
      new Promise<Row[]>((resolve, reject) => {
        this.#send(client, statement, values, signal, (error, rows) =>
          error === undefined ? resolve(rows) : reject(error),
        );
      });
    return this.#tracing === undefined ? send() : this.#tracing.statement(statement.name, send);
  }

  #send<Row>(
    client: pg.PoolClient,
    { name, text }: Statement<Row>,
    values: readonly unknown[] | undefined,
    signal: AbortSignalLike,
    done: (error: unknown, rows: Row[]) => void,
  ): void {
    if (signal.aborted) {
      done(signal.reason, []);
      return;
    }
    const bound = values === undefined ? [] : [...values];
    const query = this.#config.prepare === false ? { text, values: bound } : { name, text, values: bound };
    void client.query<Row & pg.QueryResultRow>(query, (error, result) => {
      // The driver's types know of no null here.
      if (!(error instanceof Error)) done(undefined, result.rows);
      else done(signal.aborted ? signal.reason : toDatabaseError(error, this.#logger, name), []);
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
