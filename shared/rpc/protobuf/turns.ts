import { RoundRobin } from '../../fairness/round-robin.ts';

/** On whose behalf something long is done: turns are shared out by the token's `sub` (design 8). */
export interface TurnTaker {
  /** Undefined for the process itself. */
  readonly subject?: string | undefined;
}

/** Less than a small call takes. What is written in it fits into a processor's cache. */
const batchMs = 0.5;

/** The batches that wait for their turns, in the whole process: it has one event loop. */
const waiting = new RoundRobin<() => void>();

/** A batch of some long work. It may go on until it is over. */
export class Batch {
  #endMs = performance.now() + batchMs;

  /** Whether it has taken its time. The work then has to yield. */
  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  restart(): void {
    this.#endMs = performance.now() + batchMs;
  }
}

/**
 * Resolves when the next batch may run. Of all that wait, one batch runs in each iteration of the event
 * loop, the callers in turn. So a small call waits for one batch, however much else is under way.
 */
export function nextTurn({ subject }: TurnTaker): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.size === 0) setImmediate(giveTurn);
    waiting.push(subject, resolve);
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  // What was given its turn runs before, in a microtask.
  if (waiting.size > 0) setImmediate(giveTurn);
}
