import { useSyncExternalStore } from 'react';

/** A value outside of React that may be followed. */
export class Signal<T> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  readonly get = (): T => this.#value;

  set(value: T): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener after each change. Returns a function that ends this. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** Returns the value. Components that use it render again when it changes. */
export function useSignal<T>({ subscribe, get }: Signal<T>): T {
  return useSyncExternalStore(subscribe, get);
}
