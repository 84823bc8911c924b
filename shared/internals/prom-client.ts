import { Histogram, type HistogramConfiguration } from 'prom-client';
import { PinnedLibrary } from './pinned-library.ts';

/**
 * A registry of prom-client asks a histogram for its values by the undocumented method
 * `getForPromString`, for text and for JSON. Overriding it is the only way to show a registry buckets
 * that were counted elsewhere, as the buckets of the calls are (see telemetry/call-metrics.ts).
 */
export const promClient = new PinnedLibrary('prom-client', '15.1.3');

/** Throws a `ConfigError` when prom-client reads a histogram by another method. */
export function checkPromClient(histogram: object = Histogram.prototype): void {
  promClient.check('getForPromString' in histogram, 'reads a histogram by another method');
}

/** One line of a histogram in the text form: a cumulative bucket, the sum or the count. */
export interface HistogramLine {
  readonly metricName: string;
  readonly labels: { readonly le?: number | string };
  readonly sharedLabels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A histogram whose lines are read at each scrape. */
export class CollectedHistogram extends Histogram {
  readonly #text: { readonly name: string; readonly help: string };
  readonly #read: () => readonly HistogramLine[];

  constructor(configuration: HistogramConfiguration<string>, read: () => readonly HistogramLine[]) {
    super({ ...configuration, registers: [] });
    this.#text = { name: configuration.name, help: configuration.help };
    this.#read = read;
  }

  async getForPromString() {
    return { ...this.#text, type: 'histogram', aggregator: 'sum', values: [...this.#read()] };
  }
}
