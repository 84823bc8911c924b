import { Code, ConnectError } from '@connectrpc/connect';
import type { WatchStoreResponse } from '#gen/slot/v1/slot_store_service_pb';

/** A version of the derived stores (design 4). */
export type StoreVersion = Pick<WatchStoreResponse, 'version' | 'refreshedAt'>;

/** The known state of the stores. */
export interface WatchState {
  /** The version that arrived last; undefined until one arrives. */
  readonly latest: StoreVersion | undefined;
  /** `latest` is certainly the newest only while this is `live`. `paused`: nobody watches, or the device is offline. */
  readonly connection: 'paused' | 'connecting' | 'live' | 'lost';
}

/** The functions that a watch depends on. */
export interface WatchParts {
  /** Opens a stream of the versions after `afterVersion`; if it is undefined, from the current version on. */
  open(afterVersion: number | undefined, signal: AbortSignal): AsyncIterable<StoreVersion>;
  /** Whether a stream may be open now. */
  mayWatch(): boolean;
  /** Calls the listener whenever `mayWatch` may have changed. Returns a function that ends this. */
  followChanges(listener: () => void): () => void;
  /** Waits for `ms` milliseconds, or until the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/**
 * Follows the versions of the stores with one stream, however many components listen. The stream is open only while a
 * component listens and `mayWatch` is true. A broken stream is reopened after a pause that grows with each failure.
 */
export class StoreWatch {
  readonly #parts: WatchParts;
  readonly #listeners = new Set<() => void>();
  #state: WatchState = { latest: undefined, connection: 'paused' };
  #stream: AbortController | undefined;
  #stopFollowing: (() => void) | undefined;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  readonly read = (): WatchState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#stopFollowing ??= this.#parts.followChanges(() => this.#openOrClose());
    this.#openOrClose();
    return () => {
      this.#listeners.delete(listener);
      this.#openOrClose();
      if (this.#listeners.size > 0) return;
      this.#stopFollowing?.();
      this.#stopFollowing = undefined;
    };
  };

  #openOrClose(): void {
    const isWanted = this.#listeners.size > 0 && this.#parts.mayWatch();
    if (isWanted === (this.#stream !== undefined)) return;
    this.#stream?.abort();
    this.#stream = isWanted ? new AbortController() : undefined;
    this.#set({ connection: isWanted ? 'connecting' : 'paused' });
    if (this.#stream !== undefined) void this.#watch(this.#stream.signal);
  }

  /** Keeps reading streams until the signal aborts. Never rejects. */
  async #watch(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      // Asks for the last seen version again. Its arrival shows at once that the stream is open.
      const seen = this.#state.latest?.version;
      let hasBrought = false;
      let failure: unknown;
      try {
        for await (const latest of this.#parts.open(seen === undefined ? undefined : seen - 1, signal)) {
          if (signal.aborted) return;
          hasBrought = true;
          this.#set({ latest, connection: 'live' });
        }
      } catch (error) {
        failure = error;
      }
      if (hasBrought) failures = 0;
      if (signal.aborted || (hasBrought && ConnectError.from(failure).code === Code.DeadlineExceeded)) continue;
      this.#set({ connection: 'lost' });
      await this.#parts.pause(Math.min(longestPauseMs, firstPauseMs * 2 ** failures), signal);
      failures += 1;
    }
  }

  #set(changed: Partial<WatchState>): void {
    this.#state = { ...this.#state, ...changed };
    for (const listener of this.#listeners) listener();
  }
}
