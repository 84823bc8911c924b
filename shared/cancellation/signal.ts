/** What ends work early: an AbortSignal, or the CallSignal of a call. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * The end of one call before its answer: its deadline passed, or its caller left. It is what an
 * AbortSignal is, without its price: Node's takes as long as the rest of a short call.
 */
export class CallSignal implements AbortSignalLike {
  readonly #listeners: (() => void)[] = [];
  #makeReason: (() => Error) | undefined;
  #reason: Error | undefined;
  #abortController: AbortController | undefined;

  get aborted(): boolean {
    return this.#makeReason !== undefined;
  }

  /** Why it ended: a public error. Made when it is asked for, because most calls end unasked. */
  get reason(): unknown {
    this.#reason ??= this.#makeReason?.();
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** Ends the call, once. */
  abort(makeReason: () => Error): void {
    if (this.aborted) return;
    this.#makeReason = makeReason;
    for (const listener of this.#listeners.splice(0)) listener();
  }

  /** The listener is called once; nothing happens when the call has ended already. */
  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }

  /** The same as a real AbortSignal, for what takes nothing else. */
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
