import type { SpanContext } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { DatabaseClock } from '../clock/clock.ts';
import type { DatabaseConfig } from '../config/config.ts';
import type { Caller } from '../fairness/caller.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { Connections, type Send } from './pool/connections.ts';
import { onlyRow, statement } from './statement.ts';
import { type BatchQueryable, runBatch, runTransaction, type TransactionOptions } from './transaction.ts';

/** Who asks the database: a caller, or the process for several calls that share a statement. */
export interface Asking extends Caller {
  /** The spans of the calls that share it. */
  readonly sharing?: readonly SpanContext[];
  /** The caller's open transaction, in which all its statements run. */
  readonly transaction?: BatchQueryable | undefined;
}

/** The database, as callers and the process use it. */
export class Database {
  /** The server's time. */
  readonly clock = new DatabaseClock();
  readonly #connections: Connections;
  readonly #tracing: Tracing | undefined;

  constructor(config: DatabaseConfig, logger: Logger, tracing?: Tracing) {
    this.#connections = new Connections(config, logger);
    this.#tracing = tracing;
  }

  /**
   * Runs statements and batches for a caller until its signal aborts: in its open transaction, or else each on a connection
   * of its own.
   */
  for(caller: Asking): BatchQueryable {
    if (caller.transaction !== undefined) return caller.transaction;
    const lend = <Result>(work: (send: Send) => Promise<Result>) =>
      this.#connections.lend(caller, (send) => work(this.#traced(send, caller)));
    return {
      query: (statement) => lend((run) => run(statement)),
      queryLate: (make) =>
        lend(async (run) => {
          const statement = make();
          return statement === undefined ? [] : run(statement);
        }),
      batch: (before, last) => lend((run) => runBatch(run, before, last)),
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
    options: TransactionOptions<Result> = {},
  ): Promise<Result> {
    return this.#connections.lend(caller, (send) =>
      runTransaction(this.#traced(send, caller), caller.signal, work, options),
    );
  }

  /** Whether the database answers before the signal aborts, however many calls wait for it. Its answer sets `clock`. */
  async answers(signal: AbortSignal): Promise<boolean> {
    const asked = this.#connections.lendToProcess(signal, async (send) => {
      const sentAtMs = performance.now();
      this.clock.learn(onlyRow(await send(ping())).nowMs, sentAtMs);
    });
    return asked.then(
      () => true,
      () => false,
    );
  }

  /** How many calls wait for a connection. */
  get waiting(): number {
    return this.#connections.waiting;
  }

  /** Registers the metrics of the connections. */
  registerMetrics(metrics: Metrics): void {
    this.#connections.registerMetrics(metrics);
  }

  /** Closes the connections once the statements in flight have ended. */
  close(): Promise<void> {
    return this.#connections.close();
  }

  /** Sends each statement in a span of its own where calls are traced. */
  #traced(send: Send, { sharing }: Asking): Send {
    const tracing = this.#tracing;
    return tracing === undefined
      ? send
      : (statement) => tracing.statement(statement.name, () => send(statement), sharing);
  }
}

const ping = statement<{ nowMs: number }>(
  'ping',
  'select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"',
);
