import type { AbortSignalLike } from '../cancellation/signal.ts';

/** Who asks for something scarce, and until when. What is scarce is shared out by `subject` (design 8). */
export interface Caller {
  /** The token's `sub`; undefined when the process itself asks. */
  readonly subject?: string | undefined;
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignalLike;
  /** How long it waits for its turn; undefined: until the signal aborts. */
  readonly maxWaitMs?: number | undefined;
  /** Gives the place on which its call executes to others. Undefined for who has none. */
  leavePlace?(): void;
  /** Waits for a place again. Rejects with OVERLOADED when there is none in time. */
  takePlace?(): Promise<void>;
}
