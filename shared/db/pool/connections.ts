import pg from 'pg';
import type { Logger } from 'pino';
import type { AbortSignalLike } from '../../cancellation/signal.ts';
import type { DatabaseConfig } from '../../config/config.ts';
import { fail } from '../../errors/errors.ts';
import type { Caller } from '../../fairness/caller.ts';
import { FairQueue } from '../../fairness/fair-queue.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { databaseErrors, endsConnection, toDatabaseError } from '../errors.ts';
import type { BoundStatement } from '../statement.ts';
import { cancelStatement } from './cancel.ts';
import { beatEveryMs, PacedClient } from './paced-client.ts';

// A Date goes to the server in UTC: in the process's zone its old offsets lose their seconds.
pg.defaults.parseInputDatesAsUTC = true;

// The server ends a statement that takes too long. When its answer does not come either, the connection
// is silent.
const answerGraceMs = 1_000;
const silenceCheckMs = 500;
// How long a call waits for the end of the statement that its abort has canceled.
const cancelGraceMs = 500;

/** Sends a statement on the connection that is lent. */
export type Send = <Row>(statement: BoundStatement<Row>) => Promise<Row[]>;

/**
 * The connections of one process to the database, which its callers borrow in turn. One that no longer answers is closed, and another
 * takes its place.
 */
export class Connections {
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

  constructor(config: DatabaseConfig, logger: Logger) {
    this.#config = config;
    this.#logger = logger;
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

  /** Lends a connection to `work` when it is the caller's turn. */
  lend<Result>(caller: Caller, work: (send: Send) => Promise<Result>): Promise<Result> {
    // Most calls find a free connection: they pay for no promise.
    if (!caller.signal.aborted && this.#turns.tryTake(caller.subject)) return this.#lend(caller, work, this.#turns);
    return this.#turns.take(caller).then((isTaken) => {
      if (!isTaken) throw fail(databaseErrors.poolExhausted);
      return this.#lend(caller, work, this.#turns);
    });
  }

  /** Lends the connection that callers have no share of, for a question that must not wait for them. */
  lendToProcess<Result>(signal: AbortSignalLike, work: (send: Send) => Promise<Result>): Promise<Result> {
    return this.#lend({ signal }, work);
  }

  /**
   * Lends a connection to `work`, and cancels its statement when the signal aborts. Then rejects with
   * the reason of the signal, at the latest after the grace time: a silent connection never answers.
   *
   * @param turns gets the caller's turn back when the connection can be lent again, which may be later.
   */
  #lend<Result>(
    { subject, signal }: Caller,
    work: (send: Send) => Promise<Result>,
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
        work((statement) => this.#send(connected, statement, signal)).then(
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
}
