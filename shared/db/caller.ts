import type { AbortSignalLike } from '../cancellation/signal.ts';
import type { Queryable } from './statement.ts';

/** A caller that asks for something scarce. Permits are shared out by `subject` (design 8). */
export interface Caller {
  /** The token's `sub`; undefined for the process itself. */
  readonly subject?: string | undefined;
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignalLike;
  /** How long the caller waits for its turn, in milliseconds; undefined: until the signal aborts. */
  readonly maxWaitMs?: number | undefined;
  /** The caller's open transaction, in which all of its statements run. Undefined: each runs on its own. */
  readonly transaction?: Queryable | undefined;
  /** Releases the call's permit to execute. Undefined for a caller that holds none. */
  releasePermit?(): void;
  /** Waits for a permit again. Rejects with OVERLOADED if none is released in time. */
  takePermit?(): Promise<void> | undefined;
}
