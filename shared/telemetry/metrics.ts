import type { Logger } from 'pino';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { withTimeout } from '../cancellation/timeout.ts';

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads a metric's current value, or one sample per set of labels. */
export type Read = () => Reading | Promise<Reading>;
type Reading = number | readonly Sample[];

/** The part of prom-client's gauges and counters that a collection uses. */
interface Resettable {
  reset(): void;
  remove(labels: object): void;
  inc(labels: object, value: number): void;
}

const readTimeoutMs = 1_000;

/**
 * The metrics of one service. Values are read at each scrape, so that calls pay nothing for them. A scrape omits a
 * metric whose value can't be read in time.
 */
export class Metrics {
  /** Not prom-client's global registry, which all services of a process would share. */
  readonly registry = new Registry();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * Registers a value that can rise and fall.
   *
   * @param name follows Prometheus's conventions: the unit and `_total` come last.
   */
  gauge(name: string, help: string, read: Read, labelNames: readonly string[] = []): void {
    new Gauge({ name, help, labelNames, registers: [this.registry], collect: this.#collector(name, read) });
  }

  /** Registers a value that only rises and is counted elsewhere. */
  counter(name: string, help: string, read: Read, labelNames: readonly string[] = []): void {
    new Counter({ name, help, labelNames, registers: [this.registry], collect: this.#collector(name, read) });
  }

  /** Registers a histogram. */
  histogram(name: string, help: string, buckets: readonly number[]): { observe(value: number): void } {
    return new Histogram({ name, help, buckets: [...buckets], registers: [this.registry] });
  }

  #collector(name: string, read: Read) {
    const readOnce = oneAtATime(async () => read());
    const logger = this.#logger;
    return async function collect(this: Resettable): Promise<void> {
      let reading: Reading = [];
      try {
        reading = await withTimeout(readOnce(), readTimeoutMs, 'the source did not answer in time');
      } catch (error) {
        logger.debug({ err: error, metric: name }, 'a metric could not be read');
      }
      const samples = typeof reading === 'number' ? [{ labels: {}, value: reading }] : reading;
      this.reset();
      // A reset metric without labels would show 0.
      if (samples.length === 0) this.remove({});
      for (const { labels, value } of samples) this.inc(labels, value);
    };
  }
}

/**
 * Returns a function whose concurrent callers share one call of `read`. Several metrics can then share a read, and
 * reads that hang do not pile up.
 */
export function oneAtATime<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let running: Promise<Value> | undefined;
  return () => {
    running ??= read().finally(() => {
      running = undefined;
    });
    return running;
  };
}
