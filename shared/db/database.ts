import type { Logger } from 'pino';
import { DatabaseClock } from '../clock/clock.ts';
import type { DatabaseConfig } from '../config/database.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Caller } from './caller.ts';
import { Connections, type Send } from './pool/connections.ts';
import { type BoundStatement, onlyRow, type Queryable, statement } from './statement.ts';
import { runPipeline, runTransaction, type TransactionOptions } from './transaction.ts';

// A full disk shows only in the writes that it fails. Longer than a scrape, so that the metric shows a single one.
const diskFullForMs = 60_000;

const measureMs = 1_000;

// Less than a second, so that a dead connection of the probe is replaced before the next but one.
const probeTimeoutMs = 500;

/** The database, for callers and for the process itself. */
export class Database {
  /** PostgreSQL's time. */
  readonly clock = new DatabaseClock();
  readonly #connections: Connections;
  /** The connection that asks whether the database answers, which must not wait for calls. */
  readonly #probe: Connections;
  readonly #tracing: Tracing | undefined;
  #isReadOnly = false;

  constructor(config: DatabaseConfig, logger: Logger, tracing?: Tracing) {
    this.#connections = new Connections(config, logger);
    this.#probe = new Connections({ ...config, poolSize: 1, statementTimeoutMs: probeTimeoutMs }, logger);
    this.#tracing = tracing;
  }

  /**
   * Returns an object that runs statements for a caller until its signal aborts. They run in the caller's
   * open transaction, or each on its own connection.
   */
  for(caller: Caller): Queryable {
    if (caller.transaction !== undefined) return caller.transaction;
    const lend = <Result>(work: (send: Send) => Promise<Result>) =>
      this.#connections.lend(caller, (send) => work(this.#traced(send)));
    return {
      query: (statement) => lend((run) => run(statement)),
      pipeline: (before, last) => lend((run) => runPipeline(run, before, last)),
    };
  }

  /**
   * Runs `work` in one transaction. Commits when it returns; rolls back when it throws or the caller's signal aborts.
   *
   * A failed statement rolls back the whole transaction, including earlier statements, and the next statement begins a
   * new one. `work` may therefore retry a write that lost a race, but must then write with a single statement.
   */
  transaction<Result>(
    caller: Caller,
    work: (tx: Queryable) => Promise<Result>,
    options: TransactionOptions<Result> = {},
  ): Promise<Result> {
    return this.#connections.lend(caller, (send) => runTransaction(this.#traced(send), caller.signal, work, options));
  }

  /** Runs `work` in the caller's open transaction, which commits later, or else in one of its own. */
  within<Result>(
    caller: Caller,
    work: (tx: Queryable) => Promise<Result>,
    options: TransactionOptions<Result> = {},
  ): Promise<Result> {
    return caller.transaction === undefined ? this.transaction(caller, work, options) : work(caller.transaction);
  }

  /**
   * Resolves with whether the database answers before the signal aborts, even while calls wait for connections.
   * The answer adjusts `clock`, and says whether the database is read only.
   */
  async answers(signal: AbortSignal): Promise<boolean> {
    const asked = this.#probe.lend({ signal }, async (send) => {
      const sentAtMs = performance.now();
      const { nowMs, isReadOnly } = onlyRow(await send(ping()));
      this.clock.learn(nowMs, sentAtMs);
      this.#isReadOnly = isReadOnly;
    });
    return asked.then(
      () => true,
      () => false,
    );
  }

  /** Runs a statement for a metric, within a second. Rejects while calls wait: a scrape must not delay them further. */
  async measure<Row>(statement: BoundStatement<Row>): Promise<Row[]> {
    if (this.#connections.waiting > 0) throw new Error('calls wait for the database');
    return this.for({ signal: AbortSignal.timeout(measureMs) }).query(statement);
  }

  /** Registers the metrics of the connections, and of whether the database takes writes. */
  registerMetrics(metrics: Metrics): void {
    this.#connections.registerMetrics(metrics);
    const isDiskFull = () => performance.now() - this.#connections.diskFullAtMs < diskFullForMs;
    const isWritable = () => Number(!this.#isReadOnly && !isDiskFull());
    metrics.gauge('database_writable', '0 while the database is read only, or its disk is full.', isWritable);
  }

  /** Closes the connections after the statements in flight have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#connections.close(), this.#probe.close()]);
  }

  /** Wraps each statement in a span of its own when tracing is on. */
  #traced(send: Send): Send {
    const tracing = this.#tracing;
    return tracing === undefined ? send : (statement) => tracing.statement(statement.name, () => send(statement));
  }
}

// A standby is read only, too.
const ping = statement<{ nowMs: number; isReadOnly: boolean }>(
  'ping',
  `select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
    current_setting('transaction_read_only')::boolean as "isReadOnly"`,
);
