import pg from 'pg';
import type { Logger } from 'pino';
import type { AbortSignalLike } from '../../cancellation/signal.ts';
import type { DatabaseConfig } from '../../config/config.ts';
import { fail } from '../../errors/errors.ts';
import type { Caller } from '../../fairness/caller.ts';
import { FairQueue } from '../../fairness/fair-queue.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { databaseErrors, endsConnection, foundDiskFull, toDatabaseError } from '../errors.ts';
import type { BoundStatement } from '../statement.ts';
import { cancelStatement } from './cancel.ts';
import { beatEveryMs, PacedClient } from './paced-client.ts';

// Dates go to the server in UTC. In the process's zone, historical offsets would lose their seconds.
pg.defaults.parseInputDatesAsUTC = true;

// The server ends a statement at its timeout. If no answer comes this long after it, the connection is silent.
const answerGraceMs = 1_000;
const silenceCheckMs = 500;
// How long an aborted call waits for its canceled statement to end.
const cancelGraceMs = 500;

/** Sends a statement on the borrowed connection. */
export type Send = <Row>(statement: BoundStatement<Row>) => Promise<Row[]>;

/**
 * The database connections of one process. Callers borrow them in turn. A connection that no longer
 * answers is closed and replaced.
 */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #config: DatabaseConfig;
  readonly #turns: FairQueue;
  readonly #connections = new Set<pg.PoolClient>();
  /** The time of the last send or answer of each borrowed connection, by the clock of the silence check. */
  readonly #sentAt = new Map<pg.PoolClient, number>();
  readonly #silenceCheck: NodeJS.Timeout;
  readonly #beating: NodeJS.Timeout;
  #nowMs = performance.now();
  #lost = 0;
  #diskFullAtMs = Number.NEGATIVE_INFINITY;
  readonly #logger: Logger;

  constructor(config: DatabaseConfig, logger: Logger) {
    this.#config = config;
    this.#logger = logger;
    this.#turns = new FairQueue(config.poolSize);
    this.#pool = new pg.Pool({
      connectionString: config.url,
      application_name: config.applicationName,
      // The extra connection serves the health check, which must not wait for calls.
      max: config.poolSize + 1,
      keepAlive: true,
      Client: PacedClient,
      // Connections stay open. A timer per release would take a noticeable part of each call.
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: config.connectionTimeoutMs,
      statement_timeout: config.statementTimeoutMs,
      idle_in_transaction_session_timeout: config.statementTimeoutMs,
      // A batch sends its statements without waiting for answers.
      pipeline: true,
    });
    this.#pool.on('remove', (client) => void this.#connections.delete(client));
    this.#pool.on('connect', (client) => {
      this.#connections.add(client);
      // Without a listener, losing an idle connection would end the process.
      client.on('error', (error) => {
        this.#lost += 1;
        logger.warn({ err: error }, 'a database connection was lost');
      });
    });
    this.#pool.on('error', () => undefined);
    // One check for all connections is cheaper than the driver's timer per statement.
    this.#silenceCheck = setInterval(() => this.#closeSilent(), silenceCheckMs).unref();
    this.#beating = setInterval(() => this.#beatIdle(), beatEveryMs).unref();
  }

  /**
   * Lends a connection to `work` when it is the caller's turn. Rejects with RESOURCE_EXHAUSTED DATABASE_POOL_EXHAUSTED
   * if its turn does not come in time.
   */
  lend<Result>(caller: Caller, work: (send: Send) => Promise<Result>): Promise<Result> {
    // The common case finds a free connection and skips the promise.
    if (!caller.signal.aborted && this.#turns.tryTake(caller.subject)) return this.#lend(caller, work, this.#turns);
    return this.#turns.take(caller).then((isTaken) => {
      if (!isTaken) throw fail(databaseErrors.poolExhausted);
      return this.#lend(caller, work, this.#turns);
    });
  }

  /** Lends a connection outside the callers' shares, for a query that must not wait for them. */
  lendToProcess<Result>(signal: AbortSignalLike, work: (send: Send) => Promise<Result>): Promise<Result> {
    return this.#lend({ signal }, work);
  }

  /**
   * Lends a connection to `work`, and cancels its statement when the signal aborts. It then rejects with the signal's
   * reason, after the grace time at the latest, because a silent connection never answers.
   *
   * @param turns gets the caller's turn back once the connection can be lent again, which may be after the call.
   */
  #lend<Result>(
    { subject, signal }: Caller,
    work: (send: Send) => Promise<Result>,
    turns?: FairQueue,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      let client: pg.PoolClient | undefined;
      let canceling: Promise<boolean> | undefined;
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
          // A call that gave up while it waited has no connection to release, contrary to the driver's types.
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
      this.#sentAt.set(client, this.#nowMs);
      // Copying the config object, the driver's usual path, takes 5 µs.
      const query = new pg.Query<Row & pg.QueryResultRow>(text, [...values], (error, result) => {
        // The next statement of the pipeline begins now.
        if (this.#sentAt.has(client)) this.#sentAt.set(client, this.#nowMs);
        // The driver's types do not say that the error may be null.
        if (!(error instanceof Error)) return resolve(result.rows);
        if (foundDiskFull(error)) this.#diskFullAtMs = this.#nowMs;
        reject(signal.aborted ? signal.reason : toDatabaseError(error, this.#logger, name));
      });
      // PostgreSQL keeps the plan of a named statement.
      if (this.#config.prepare) Object.assign(query, { name });
      client.query(query);
    });
  }

  /**
   * Closes the connections that do not answer; their statements fail with DATABASE_UNAVAILABLE. Idle
   * connections are closed with them: they are probably silent for the same reason, and testing each by a
   * statement would take as long again.
   */
  #closeSilent(): void {
    this.#nowMs = performance.now();
    const isSilent = (sentAt: number) => this.#nowMs - sentAt > this.#config.statementTimeoutMs + answerGraceMs;
    if (![...this.#sentAt.values()].some(isSilent)) return;
    for (const client of this.#connections) {
      const sentAt = this.#sentAt.get(client);
      if (sentAt !== undefined && !isSilent(sentAt)) continue;
      // A server whose commit waits for a synchronous standby does not notice the closed connection,
      // so the commit is canceled.
      if (sentAt !== undefined) void this.#cancel(client);
      if (client instanceof PacedClient) client.destroy();
    }
  }

  /**
   * Sends a beat on idle connections. No call waits for an answer on them, so nothing else would detect their silence.
   */
  #beatIdle(): void {
    for (const client of this.#connections) {
      if (client instanceof PacedClient && !this.#sentAt.has(client)) void client.beat();
    }
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
    this.#sentAt.set(client, this.#nowMs);
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

  /** Closes the pool after the statements in flight have ended. */
  async close(): Promise<void> {
    clearInterval(this.#silenceCheck);
    clearInterval(this.#beating);
    await this.#pool.end();
  }
}
