import type { Logger } from 'pino';
import { withTimeout } from '../cancellation/timeout.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { JobBackend, JobOptions, JobQueue, JobWorker } from './backend.ts';
import { addCauses, causesOf, TraceLinks, toJobData } from './causes.ts';

export interface SingletonJobOptions {
  readonly name: string;
  /** How long requests are gathered before a run. */
  readonly delayMs: number;
  /** How often a run happens without a request. */
  readonly sweepEveryMs: number;
  readonly backend: JobBackend;
  readonly logger: Logger;
  readonly tracing: Tracing | undefined;
  /** Rejects when the signal aborts: the work is left to a later run. */
  run(signal: AbortSignal): Promise<void>;
}

const addTimeoutMs = 5_000;
// A run that a stop can't wait for is handed back with this much time left to say so.
const handBackMs = 1_000;
// Requests of this long are one add: a burst of writes then pays next to nothing for the queue.
const maxGatheringMs = 100;

/**
 * A job of which at most one waits and, after a running one, at most one more (BullMQ's
 * deduplication): a burst of requests makes one run, and a request during a run one more.
 */
export class SingletonJob {
  readonly #options: SingletonJobOptions;
  readonly #queue: JobQueue;
  readonly #worker: JobWorker;
  readonly #gatheringMs: number;
  #gathering: NodeJS.Timeout | undefined;
  #rescheduling: NodeJS.Timeout | undefined;
  #isScheduling = false;
  #asked = false;
  #adding: Promise<void> | undefined;
  #closed = false;
  readonly #handBack = new AbortController();

  #notQueued = 0;
  readonly #causes = new TraceLinks();

  constructor(options: SingletonJobOptions) {
    const { name, backend, logger, tracing, run } = options;
    this.#options = options;
    this.#gatheringMs = Math.min(maxGatheringMs, options.delayMs / 4);
    this.#queue = backend.openQueue(name);
    this.#worker = backend.openWorker(name, (data) => {
      const runNow = () => run(this.#handBack.signal);
      return tracing === undefined ? runNow() : tracing.job(name, causesOf(data), runNow);
    });
    this.#queue.on('error', (error) => logger.warn({ err: error }, 'the job queue failed'));
    this.#worker.on('error', (error) => logger.warn({ err: error }, 'the job worker failed'));
    this.#worker.on('failed', (job, error) => {
      const isTriedAgain = job !== undefined && job.attemptsMade < (job.opts.attempts ?? 1);
      logger[isTriedAgain ? 'warn' : 'error']({ err: error, job: name }, 'a job failed');
    });
    backend.onReconnect(() => {
      void this.#schedule();
      this.request();
    });
  }

  /** Sets up the sweep and asks for a first run. Rejects when a store of jobs that is required is away. */
  async start(): Promise<void> {
    if (this.#options.backend.isRequired) {
      await Promise.all([this.#queue.waitUntilReady(), this.#worker.waitUntilReady()]);
    }
    void this.#schedule();
    this.request();
    this.#rescheduling = setInterval(() => void this.#schedule(), this.#options.sweepEveryMs / 3).unref();
  }

  /**
   * Asks for a run. Never waits and never throws: a failure is logged and counted. One add is under
   * way at a time, so that a store of jobs that is away or slow costs neither time nor memory.
   */
  request(): void {
    if (this.#closed) return;
    this.#causes.note();
    this.#gathering ??= setTimeout(() => this.#add(), this.#gatheringMs);
  }

  /** Declares the metrics of the job. */
  registerMetrics(metrics: Metrics): void {
    const { name: job } = this.#options;
    metrics.gauge({ name: 'jobs', help: 'Jobs in the queue, of all replicas.', labels: ['job', 'state'] }, async () => {
      const counts = await this.#queue.getJobCounts('waiting', 'delayed', 'active', 'failed');
      return Object.entries(counts).map(([state, value]) => ({ labels: { job, state }, value }));
    });
    metrics.counter(
      {
        name: 'jobs_not_queued_total',
        help: 'Jobs that could not be queued; the next sweep does their work.',
        labels: ['job'],
      },
      () => [{ labels: { job }, value: this.#notQueued }],
    );
  }

  /**
   * Queues what was asked for last, and lets a running job finish within `leftMs`, else hands it back.
   * While the store of jobs does not answer there is nothing to wait for: its connections are closed
   * next.
   */
  async close(leftMs: number): Promise<void> {
    this.#closed = true;
    clearInterval(this.#rescheduling);
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
    this.#asked = true;
    this.#adding ??= this.#addWhileAsked();
  }

  async #addWhileAsked(): Promise<void> {
    while (this.#asked) {
      this.#asked = false;
      await this.#addNow();
    }
    this.#adding = undefined;
  }

  async #addNow(): Promise<void> {
    const { name, delayMs, logger } = this.#options;
    const options: JobOptions = {
      delay: delayMs - this.#gatheringMs,
      deduplication: { id: name, keepLastIfActive: true },
      attempts: 5,
      backoff: { type: 'exponential', delay: 500 },
      removeOnComplete: true,
      removeOnFail: 10,
    };
    const causes = this.#causes.take();
    try {
      const job = await inTime(this.#queue.add('requested', toJobData(causes), options));
      await inTime(addCauses(this.#queue, job, causes)).catch((error: unknown) => {
        logger.debug({ err: error, job: name }, 'a job has not all of its traces');
      });
    } catch (error) {
      this.#causes.give(causes);
      this.#notQueued += 1;
      logger.warn({ err: error, job: name }, 'a job could not be queued');
    }
  }

  /**
   * Schedules the sweep, again and again: the store of jobs may have refused it, or have lost everything
   * without a word. One that is scheduled already keeps its time.
   */
  async #schedule(): Promise<void> {
    if (this.#closed || this.#isScheduling) return;
    this.#isScheduling = true;
    const { sweepEveryMs, logger } = this.#options;
    const sweep = { name: 'sweep', opts: { removeOnComplete: true, removeOnFail: 10 } };
    try {
      await inTime(this.#queue.upsertJobScheduler('sweep', { every: sweepEveryMs }, sweep));
    } catch (error) {
      logger.warn({ err: error }, 'the sweep could not be scheduled');
    } finally {
      this.#isScheduling = false;
    }
  }
}

const inTime = <Result>(work: Promise<Result>) =>
  withTimeout(work, addTimeoutMs, 'the job queue did not answer in time');
