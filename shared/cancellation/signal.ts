/** The common part of AbortSignal and CallSignal. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Aborts one call when its deadline passes or its client cancels it. It replaces AbortSignal, because Node's
 * implementation costs as much time as the rest of a short call.
 */
export class CallSignal implements AbortSignalLike {
  readonly #listeners: (() => void)[] = [];
  #makeReason: (() => Error) | undefined;
  #reason: Error | undefined;
  #abortController: AbortController | undefined;

  get aborted(): boolean {
    return this.#makeReason !== undefined;
  }

  /** The public error that says why the call was aborted. Created when it is first read, because few calls read it. */
  get reason(): unknown {
    this.#reason ??= this.#makeReason?.();
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** Aborts the call. Only the first time has an effect. */
  abort(makeReason: () => Error): void {
    if (this.aborted) return;
    this.#makeReason = makeReason;
    for (const listener of this.#listeners.splice(0)) listener();
  }

  /** Adds a listener, which is called once. It is never called if the call has already been aborted. */
  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }

  /** Returns a real AbortSignal that aborts with this one, for functions that need one. */
  toAbortSignal(): AbortSignal {
    if (this.#abortController === undefined) {
      const controller = new AbortController();
      if (this.aborted) controller.abort(this.reason);
      else this.addEventListener('abort', () => controller.abort(this.reason));
      this.#abortController = controller;
    }
    return this.#abortController.signal;
  }
}
