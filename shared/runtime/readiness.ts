import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import type { Metrics } from '../telemetry/metrics.ts';

const probeEveryMs = 1_000;
// Longer than a busy process takes to read an answer from its socket.
const answerWithinMs = 2_000;
// An offset beyond the leeway of tokens is worth a warning. One beyond a minute breaks everything else that
// uses this machine's clock.
const clockOffMs = 5_000;
const clockWrongMs = 60_000;

/** The parts of a service that readiness needs. */
interface ProbedService {
  readonly database: Database;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Probes the database once a second, and learns its time. Every readiness check gets the last result, so checks
 * cost the database nothing. A service is not ready while its machine's clock is more than a minute off from
 * the database's (design 8).
 */
export class Readiness {
  readonly #service: ProbedService;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners: ((isReady: boolean) => void)[] = [];
  #isReady = false;
  #isProbing = false;
  #clock: 'right' | 'off' | 'wrong' = 'right';

  private constructor(service: ProbedService) {
    this.#service = service;
    const { clock } = service.database;
    service.metrics.gauge('service_ready', '1 while the database answers and the clock is right.', () =>
      Number(this.#isReady),
    );
    service.metrics.gauge(
      'clock_offset_seconds',
      "How far this machine's clock is ahead of PostgreSQL's.",
      () => clock.offsetMs / 1_000,
    );
    this.#timer = setInterval(() => void this.#probe(), probeEveryMs).unref();
  }

  /** Creates a `Readiness` after a first probe, so that the service starts with the database's time. */
  static async open(service: ProbedService): Promise<Readiness> {
    const readiness = new Readiness(service);
    await readiness.#probe();
    return readiness;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Calls `listener` now and at each change. */
  onChange(listener: (isReady: boolean) => void): void {
    listener(this.#isReady);
    this.#listeners.push(listener);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #probe(): Promise<void> {
    // The previous probe may still be running.
    if (this.#isProbing) return;
    this.#isProbing = true;
    const answers = await this.#service.database.answers(AbortSignal.timeout(answerWithinMs));
    this.#isProbing = false;
    const isReady = answers && this.#compareClocks() !== 'wrong';
    if (isReady === this.#isReady) return;
    this.#isReady = isReady;
    for (const listener of this.#listeners) listener(isReady);
  }

  #compareClocks() {
    const { logger, database } = this.#service;
    const offMs = Math.abs(database.clock.offsetMs);
    const clock = offMs > clockWrongMs ? 'wrong' : offMs > clockOffMs ? 'off' : 'right';
    if (clock !== this.#clock) {
      const offsetSeconds = Math.round(database.clock.offsetMs / 1_000);
      logger.warn({ offsetSeconds }, `the clock of this machine is ${clock}, compared with PostgreSQL's`);
    }
    this.#clock = clock;
    return clock;
  }
}
