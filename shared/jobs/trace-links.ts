import { currentTraceparent } from '../telemetry/trace-context.ts';

const maxLinks = 20;

/** The traces behind one add to the queue, as W3C `traceparent`s: the latest 20. */
export class TraceLinks {
  #traceparents: readonly string[] = [];

  /** Adds the current trace if it is recorded. */
  addCurrent(): void {
    const traceparent = currentTraceparent();
    if (traceparent !== undefined) this.#traceparents = [...this.#traceparents, traceparent].slice(-maxLinks);
  }

  /** Returns the links and clears them. */
  take(): readonly string[] {
    const taken = this.#traceparents;
    this.#traceparents = [];
    return taken;
  }

  /** Puts back the links of an add that failed. */
  restore(taken: readonly string[]): void {
    this.#traceparents = [...taken, ...this.#traceparents].slice(-maxLinks);
  }
}

/** Reads `traceparents` from a job's data; empty if it has none. */
export function traceparentsOf(data: unknown): readonly string[] {
  const given = typeof data === 'object' && data !== null && 'traceparents' in data ? data.traceparents : undefined;
  return Array.isArray(given) ? given.filter((item) => typeof item === 'string').slice(0, maxLinks) : [];
}
