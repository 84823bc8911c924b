import type { JobsOptions } from 'bullmq';
import type { Logger } from 'pino';
import { withTimeout } from '../cancellation/timeout.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { JobBackend, JobQueue, JobWorker } from './backend.ts';

export interface SingletonJobOptions {
  /** For logs, metrics and traces. */
  readonly name: string;
  /** The queue of all replicas. */
  readonly queue: string;
  /** How long a request waits for others to share its run, in milliseconds. */
  readonly delayMs: number;
  readonly backend: JobBackend;
  readonly logger: Logger;
  readonly tracing: Tracing | undefined;
  /** Does the work. Rejects when the signal aborts; a later run then redoes the work. */
  run(signal: AbortSignal): Promise<void>;
}

const queueTimeoutMs = 5_000;
// On a stop, a running job is aborted this long before the deadline, so that BullMQ can still record the failure.
const handBackMs = 1_000;
// Requests within this time share one add, so that a burst of writes costs the queue almost nothing.
const maxGatheringMs = 100;

/**
 * A job that is debounced and deduplicated over all replicas (BullMQ's deduplication). At most one run waits, and at
 * most one more follows a run in progress: a burst of requests makes one run, and requests during a run make one more.
 * The queue makes runs prompt but does not guarantee them: it relies on the clocks of the processes that add to it, and
 * its store may be down. The owner of the job needs a fallback, such as a sweep.
 */
export class SingletonJob {
  readonly #options: SingletonJobOptions;
  readonly #queue: JobQueue;
  readonly #worker: JobWorker;
  readonly #gatheringMs: number;
  readonly #handBack = new AbortController();
  #gathering: NodeJS.Timeout | undefined;
  #addIsDue = false;
  #adding: Promise<void> | undefined;
  #isClosed = false;
  #failedAdds = 0;

  constructor(options: SingletonJobOptions) {
    const { name, queue, backend, logger, tracing, run } = options;
    this.#options = options;
    this.#gatheringMs = Math.min(maxGatheringMs, options.delayMs / 4);
    this.#queue = backend.openQueue(queue);
    this.#worker = backend.openWorker(queue, () => {
      const runNow = () => run(this.#handBack.signal);
      return tracing === undefined ? runNow() : tracing.job(name, runNow);
    });
    this.#queue.on('error', (error) => logger.warn({ err: error }, 'the job queue failed'));
    this.#worker.on('error', (error) => logger.warn({ err: error }, 'the job worker failed'));
    this.#worker.on('failed', (job, error) => {
      const isRetried = job !== undefined && job.attemptsMade < (job.opts.attempts ?? 1);
      logger[isRetried ? 'warn' : 'error']({ err: error, job: name }, 'a job failed');
    });
  }

  /** Resolves when the queue is ready. Rejects when the job store is required and unreachable. */
  async start(): Promise<void> {
    if (!this.#options.backend.isRequired) return;
    await Promise.all([this.#queue.waitUntilReady(), this.#worker.waitUntilReady()]);
  }

  /**
   * Requests a run. Returns at once and never throws; a failed add is logged and counted. Only one add is
   * in progress at a time, so that an unreachable or slow job store costs neither time nor memory.
   */
  request(): void {
    if (this.#isClosed) return;
    this.#gathering ??= setTimeout(() => this.#add(), this.#gatheringMs);
  }

  /**
   * Empties the queue and requests a run. A process whose clock was ahead may have queued a run far in the future, and
   * BullMQ would merge all later requests into it. Never rejects: a failure to reach the queue is logged.
   */
  async restart(): Promise<void> {
    const { name: job, logger } = this.#options;
    await withQueueTimeout(this.#queue.drain(true)).catch((error: unknown) =>
      logger.warn({ err: error, job }, 'the job queue could not be cleared'),
    );
    this.request();
  }

  /** Registers the metrics of the job. */
  registerMetrics(metrics: Metrics): void {
    const { name: job } = this.#options;
    metrics.gauge(
      'jobs',
      'Jobs in the queue, of all replicas.',
      async () => {
        const counts = await this.#queue.getJobCounts('waiting', 'delayed', 'active', 'failed');
        return Object.entries(counts).map(([state, value]) => ({ labels: { job, state }, value }));
      },
      ['job', 'state'],
    );
    metrics.counter(
      'jobs_not_queued_total',
      'Jobs that could not be queued; the next sweep does their work.',
      () => [{ labels: { job }, value: this.#failedAdds }],
      ['job'],
    );
  }

  /**
   * Queues the last requests and lets a running job finish, but aborts it shortly before `leftMs` milliseconds have
   * passed. Does not wait while the job store is unreachable, because its connections are closed next.
   */
  async close(leftMs: number): Promise<void> {
    this.#isClosed = true;
    const timer = setTimeout(() => this.#handBack.abort(new Error('the service stops')), leftMs - handBackMs);
    const closing = this.#closeAll().finally(() => clearTimeout(timer));
    if (await this.#options.backend.answers()) return closing;
    closing.catch((error: unknown) => this.#options.logger.warn({ err: error }, 'the job queue was not closed'));
  }

  async #closeAll(): Promise<void> {
    if (this.#gathering !== undefined) this.#add();
    await this.#adding;
    await this.#worker.close();
    await this.#queue.close();
  }

  #add(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#addIsDue = true;
    this.#adding ??= this.#addWhileDue();
  }

  async #addWhileDue(): Promise<void> {
    while (this.#addIsDue) {
      this.#addIsDue = false;
      await this.#addNow();
    }
    this.#adding = undefined;
  }

  async #addNow(): Promise<void> {
    const { name, delayMs, logger } = this.#options;
    const options: JobsOptions = {
      delay: delayMs - this.#gatheringMs,
      deduplication: { id: name, keepLastIfActive: true },
      attempts: 5,
      backoff: { type: 'exponential', delay: 500 },
      removeOnComplete: true,
      removeOnFail: 10,
    };
    try {
      await withQueueTimeout(this.#queue.add('requested', {}, options));
    } catch (error) {
      this.#failedAdds += 1;
      logger.warn({ err: error, job: name }, 'a job could not be queued');
    }
  }
}

const withQueueTimeout = <Result>(work: Promise<Result>) =>
  withTimeout(work, queueTimeoutMs, 'the job queue did not answer in time');
