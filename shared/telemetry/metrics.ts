import type { Logger } from 'pino';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { withTimeout } from '../cancellation/timeout.ts';

export interface MetricText {
  /** After the conventions of Prometheus: unit and `_total` at the end. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

type Reading = number | readonly Sample[];

/** Gives a metric's value, or one for each set of labels, when it is asked for. */
export type Read = () => Reading | Promise<Reading>;

const readTimeoutMs = 1_000;

/**
 * The metrics of one service. What can be read is read when somebody asks, so that calls pay nothing
 * for it. A metric whose source fails or is late is left out, and the others are still told.
 */
export class Metrics {
  /** Not prom-client's own, which the services of one process would share. */
  readonly registry = new Registry();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Declares a value that goes up and down. */
  gauge({ name, help, labels = [] }: MetricText, read: Read): void {
    const source = this.#source(name, read);
    new Gauge({
      ...{ name, help, labelNames: labels, registers: [this.registry] },
      async collect() {
        const samples = await source();
        this.reset();
        // An empty reset one says 0.
        if (samples.length === 0) this.remove({});
        for (const sample of samples) this.set(sample.labels, sample.value);
      },
    });
  }

  /** Declares a value that only goes up, and is kept elsewhere. */
  counter({ name, help, labels = [] }: MetricText, read: Read): void {
    const source = this.#source(name, read);
    new Counter({
      ...{ name, help, labelNames: labels, registers: [this.registry] },
      async collect() {
        const samples = await source();
        this.reset();
        if (samples.length === 0) this.remove({});
        for (const sample of samples) this.inc(sample.labels, sample.value);
      },
    });
  }

  /** A histogram of what is too rare for its price to matter. */
  histogram({ name, help }: MetricText, buckets: readonly number[]): { observe(value: number): void } {
    return new Histogram({ name, help, buckets: [...buckets], registers: [this.registry] });
  }

  /** Never rejects, and takes no longer than `readTimeoutMs`. */
  #source(metric: string, read: Read): () => Promise<readonly Sample[]> {
    const readOnce = oneAtATime(async () => read());
    return async () => {
      try {
        const reading = await withTimeout(readOnce(), readTimeoutMs, 'the source did not answer in time');
        return typeof reading === 'number' ? [{ labels: {}, value: reading }] : reading;
      } catch (error) {
        this.#logger.debug({ err: error, metric }, 'a metric could not be read');
        return [];
      }
    };
  }
}

/**
 * A read that several metrics share, and that is not begun again while it runs: what hangs does not
 * pile up.
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
