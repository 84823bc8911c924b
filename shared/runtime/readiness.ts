import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import type { Metrics } from '../telemetry/metrics.ts';

const probeEveryMs = 1_000;
// Longer than a busy process takes to read an answer that has come.
const answerWithinMs = 2_000;
// What is off by more than the leeway of tokens is worth a line, and by more than a minute it breaks what else tells the time.
const clockOffMs = 5_000;
const clockWrongMs = 60_000;

/** What readiness needs of a service. */
interface ProbedService {
  readonly database: Database;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Asks the database once a second whether it answers, and what time it is. Everybody who asks whether the service is ready
 * gets the last answer, so that their questions cost the database nothing. A service whose machine is more than a minute
 * off from the database's time is not ready (design 8).
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
    service.metrics.gauge(
      { name: 'clock_offset_seconds', help: "How far this machine's clock is ahead of PostgreSQL's." },
      () => clock.offsetMs / 1_000,
    );
    this.#timer = setInterval(() => void this.#probe(), probeEveryMs).unref();
  }

  /** Asks for the first time, so that the service begins with the database's time. */
  static async open(service: ProbedService): Promise<Readiness> {
    const readiness = new Readiness(service);
    await readiness.#probe();
    return readiness;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Calls `listener` now, and with each change. */
  onChange(listener: (isReady: boolean) => void): void {
    listener(this.#isReady);
    this.#listeners.push(listener);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #probe(): Promise<void> {
    // The last answer may still be due.
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
