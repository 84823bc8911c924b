import type { AbortSignalLike } from '../cancellation/signal.ts';

/** A value that is replaced as a whole, and whose readers wait for the next one. */
export class Latest<Value> {
  readonly #waiting = new Set<() => void>();
  /** Aborts when the service begins to stop, which ends all waits. */
  readonly #draining: AbortSignal;
  #value: Value;

  constructor(value: Value, draining: AbortSignal) {
    this.#value = value;
    this.#draining = draining;
    draining.addEventListener('abort', () => this.#wake(), { once: true });
  }

  get value(): Value {
    return this.#value;
  }

  set value(value: Value) {
    this.#value = value;
    this.#wake();
  }

  /** Whether somebody waits for the next value. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /**
   * Yields the value, then each later one, until the signal aborts or the service begins to stop. A reader that is slow
   * misses those in between.
   */
  async *values(signal: AbortSignalLike): AsyncIterable<Value> {
    while (!signal.aborted && !this.#draining.aborted) {
      const seen = this.#value;
      yield seen;
      while (seen === this.#value && !signal.aborted && !this.#draining.aborted) await this.#next(signal);
    }
  }

  #next(signal: AbortSignalLike): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        this.#waiting.delete(go);
        signal.removeEventListener('abort', go);
        resolve();
      };
      this.#waiting.add(go);
      signal.addEventListener('abort', go);
    });
  }

  #wake(): void {
    for (const go of this.#waiting) go();
  }
}
