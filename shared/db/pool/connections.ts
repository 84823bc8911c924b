import pg from 'pg';
import type { Logger } from 'pino';
import type { AbortSignalLike } from '../../cancellation/signal.ts';
import type { DatabaseConfig } from '../../config/database.ts';
import { settleSession } from '../../config/session.ts';
import { fail } from '../../errors/errors.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Caller } from '../caller.ts';
import { databaseErrors, endsConnection, foundDiskFull, toDatabaseError } from '../errors.ts';
import type { BoundStatement } from '../statement.ts';
import { cancelStatement } from './cancel.ts';
import { heartbeatEveryMs, PacedClient } from './paced-client.ts';

// Dates go to the server in UTC. In the process's zone, historical offsets would lose their seconds.
pg.defaults.parseInputDatesAsUTC = true;

// The server ends a statement at its timeout. If no answer comes this long after it, the connection is silent.
const answerGraceMs = 1_000;
/** The message of pg's error for a silent connection, which it has closed. */
const isSilent = (error: Error) => error.message === 'Query read timeout';
// How long an aborted call waits for its canceled statement to end.
const cancelGraceMs = 500;

/** Sends a statement on the borrowed connection. */
export type Send = <Row>(statement: BoundStatement<Row>) => Promise<Row[]>;

/** The database connections of one process. A connection that no longer answers is closed and replaced. */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #config: DatabaseConfig;
  readonly #connections = new Set<pg.PoolClient>();
  readonly #lent = new Set<pg.PoolClient>();
  readonly #heartbeats: NodeJS.Timeout;
  #lost = 0;
  #diskFullAtMs = Number.NEGATIVE_INFINITY;
  readonly #logger: Logger;

  constructor(config: DatabaseConfig, logger: Logger) {
    this.#config = config;
    this.#logger = logger;
    this.#pool = new pg.Pool({
      connectionString: config.url,
      application_name: config.applicationName,
      max: config.poolSize,
      keepAlive: true,
      // The pool's own timeout would also end the wait for a connection, which may take as long as the caller wants.
      Client: class extends PacedClient {
        constructor(options?: pg.ClientConfig) {
          super({ ...options, connectionTimeoutMillis: config.connectionTimeoutMs });
        }
      },
      // Connections stay open. A timer per release would take a noticeable part of each call.
      idleTimeoutMillis: 0,
      statement_timeout: config.statementTimeoutMs,
      query_timeout: config.statementTimeoutMs + answerGraceMs,
      idle_in_transaction_session_timeout: config.statementTimeoutMs,
      // Statements are sent without waiting for the answers of those before.
      pipeline: true,
    });
    this.#pool.on('remove', (client) => void this.#connections.delete(client));
    this.#pool.on('connect', (client) => {
      this.#connections.add(client);
      // It runs before the first statement of who gets the connection. Behind a pooler, it would be another session's.
      if (config.url === config.directUrl) {
        client.query(settleSession).catch(() => client instanceof PacedClient && client.destroy());
      }
      // Without a listener, losing an idle connection would end the process.
      client.on('error', (error) => this.#onLost(error));
    });
    this.#pool.on('error', () => undefined);
    // No call waits for an answer on an idle connection, so nothing else would notice its silence.
    this.#heartbeats = setInterval(() => {
      for (const client of this.#idle()) void client.heartbeat();
    }, heartbeatEveryMs).unref();
  }

  /**
   * Lends a connection to `work`, and cancels its statement when the signal aborts. It then rejects with the signal's
   * reason, after the grace time at the latest, because a silent connection never answers. Rejects with
   * RESOURCE_EXHAUSTED DATABASE_POOL_EXHAUSTED if no connection is free for the caller's `maxWaitMs`.
   */
  lend<Result>({ signal, maxWaitMs }: Caller, work: (send: Send) => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      let client: pg.PoolClient | undefined;
      let hasGivenUp = false;
      let canceling: Promise<boolean> | undefined;
      let giveUp: NodeJS.Timeout | undefined;
      const leave = (error: unknown) => {
        hasGivenUp = true;
        reject(error);
      };
      const abort = () => {
        if (client === undefined) return leave(signal.reason);
        canceling = this.#cancel(client);
        giveUp = setTimeout(() => reject(signal.reason), cancelGraceMs);
      };
      signal.addEventListener('abort', abort);
      // Those who wait already get the idle connections at the end of this turn of the event loop.
      if (maxWaitMs !== undefined && this.#pool.idleCount <= this.#pool.waitingCount) {
        giveUp = setTimeout(() => leave(fail(databaseErrors.poolExhausted)), maxWaitMs);
      }
      this.#pool.connect((connectError, connected, release) => {
        clearTimeout(giveUp);
        client = connected;
        const giveBack = (isLost: boolean) => {
          signal.removeEventListener('abort', abort);
          clearTimeout(giveUp);
          // Where no connection could be opened there is none to release, contrary to the driver's types.
          if (connected === undefined) return;
          this.#lent.delete(connected);
          release(isLost);
        };
        if (hasGivenUp) return giveBack(false);
        if (connected === undefined) {
          giveBack(false);
          return reject(toDatabaseError(connectError, this.#logger));
        }
        this.#lent.add(connected);
        const finish = (error?: unknown) => {
          if (canceling === undefined) giveBack(endsConnection(error));
          // A late cancellation must not hit the next call's statement.
          else
            void canceling.then((isOver) => isOver && this.#recover(connected)).then((isUsable) => giveBack(!isUsable));
        };
        work((statement) => this.#send(connected, statement, signal)).then(
          (result) => {
            finish();
            // A canceled commit that waits for a synchronous standby ends, and the server reports
            // success without the standby.
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

  #send<Row>(
    client: pg.PoolClient,
    { name, text, values }: BoundStatement<Row>,
    signal: AbortSignalLike,
  ): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      // Copying the config object, the driver's usual path, would take longer.
      const query = new pg.Query<Row & pg.QueryResultRow>(text, [...values], (error, result) => {
        // The driver's types do not say that the error may be null.
        if (!(error instanceof Error)) return resolve(result.rows);
        if (foundDiskFull(error)) this.#diskFullAtMs = performance.now();
        if (isSilent(error)) this.#afterSilence(client, error);
        reject(signal.aborted ? signal.reason : toDatabaseError(error, this.#logger, name));
      });
      // PostgreSQL keeps the plan of a named statement.
      if (this.#config.prepare) Object.assign(query, { name });
      client.query(query);
    });
  }

  /**
   * Closes all idle connections after one has not answered: they are probably silent for the same reason. A server
   * whose commit waits for a synchronous standby does not notice that the silent one is closed, so its statement is
   * canceled.
   */
  #afterSilence(silent: pg.PoolClient, error: Error): void {
    // pg tells only the statement.
    this.#onLost(error);
    void this.#cancel(silent);
    for (const client of this.#idle()) client.destroy();
  }

  #onLost(error: Error): void {
    this.#lost += 1;
    this.#logger.warn({ err: error }, 'a database connection was lost');
  }

  #idle(): PacedClient[] {
    return [...this.#connections].flatMap((client) =>
      client instanceof PacedClient && !this.#lent.has(client) ? [client] : [],
    );
  }

  /**
   * Cancels the statement of a connection. Resolves with whether no later one can be hit: PostgreSQL has signalled its
   * process when it has taken the request, and ignores a signal between statements. Poolers differ.
   */
  #cancel(client: pg.PoolClient): Promise<boolean> {
    const { connectionTimeoutMs, url, directUrl } = this.#config;
    const onError = (error: unknown) => {
      this.#logger.warn({ err: error }, 'a statement could not be canceled');
      return false;
    };
    return cancelStatement(client, connectionTimeoutMs).then(() => url === directUrl, onError);
  }

  /** Ends the transaction that a canceled statement has left open. Resolves with whether it could. */
  async #recover(client: pg.PoolClient): Promise<boolean> {
    const run = (text: string) => client.query(text).then(Boolean, () => false);
    // The driver reports an error before the state of the transaction, which it knows with the next answer.
    await run('select');
    return client.getTransactionStatus() === 'I' || run('rollback');
  }

  /** When a statement last found the server's disk full, by `performance.now()`; `-Infinity` for never. */
  get diskFullAtMs(): number {
    return this.#diskFullAtMs;
  }

  /** The number of calls that wait for a connection. */
  get waiting(): number {
    // The pool also lists the calls that get an idle or a new connection in this turn of the event loop.
    const { waitingCount, idleCount, totalCount } = this.#pool;
    return Math.max(0, waitingCount - idleCount - (this.#config.poolSize - totalCount));
  }

  /** Registers the metrics of the pool. */
  registerMetrics(metrics: Metrics): void {
    metrics.gauge(
      'db_pool_connections',
      'Connections to the database.',
      () => [
        { labels: { state: 'in_use' }, value: this.#lent.size },
        { labels: { state: 'idle' }, value: this.#pool.idleCount },
      ],
      ['state'],
    );
    metrics.gauge('db_pool_connections_max', 'The most connections.', () => this.#config.poolSize);
    metrics.gauge('db_pool_waiting', 'Calls that wait for a connection to the database.', () => this.waiting);
    metrics.counter(
      'db_connections_lost_total',
      'Connections of the pool that were closed or silent; others replace them.',
      () => this.#lost,
    );
  }

  /** Closes the pool after the statements in flight have ended. */
  close(): Promise<void> {
    clearInterval(this.#heartbeats);
    return this.#pool.end();
  }
}
