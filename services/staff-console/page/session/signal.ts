import { useSyncExternalStore } from 'react';

/** A state outside of React that may be followed. */
export class Signal<T> {
  #state: T;
  readonly #listeners = new Set<() => void>();

  constructor(state: T) {
    this.#state = state;
  }

  get state(): T {
    return this.#state;
  }

  set(state: T): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener after each change. Returns a function that ends this. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** Returns the state. Components that use it render again when it changes. */
export const useSignal = <T>(signal: Signal<T>): T => useSyncExternalStore(signal.subscribe, () => signal.state);
