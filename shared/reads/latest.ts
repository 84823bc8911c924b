import { EventEmitter, once } from 'node:events';

const changed = 'changed';

/** A value that is replaced as a whole, and whose readers wait for the next one. */
export class Latest<Value> {
  readonly #events = new EventEmitter().setMaxListeners(0);
  /** Aborts when the service begins to stop, which ends all waits. */
  readonly #draining: AbortSignal;
  #value: Value;

  constructor(value: Value, draining: AbortSignal) {
    this.#value = value;
    this.#draining = draining;
    draining.addEventListener('abort', () => this.#events.emit(changed), { once: true });
  }

  get value(): Value {
    return this.#value;
  }

  set value(value: Value) {
    this.#value = value;
    this.#events.emit(changed);
  }

  /** Whether somebody waits for the next value. */
  get isAwaited(): boolean {
    return this.#events.listenerCount(changed) > 0;
  }

  /**
   * Yields the value, then each later one, until the signal aborts or the service begins to stop. A reader that is slow
   * misses those in between.
   */
  async *values(signal: AbortSignal): AsyncIterable<Value> {
    try {
      while (!signal.aborted && !this.#draining.aborted) {
        const seen = this.#value;
        yield seen;
        while (seen === this.#value && !this.#draining.aborted) await once(this.#events, changed, { signal });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
