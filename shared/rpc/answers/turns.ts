import { RoundRobin } from '../../fairness/round-robin.ts';

/** The caller for whom long work is done. Turns are shared out by the token's `sub` (design 8). */
export interface TurnTaker {
  /** Undefined for the process itself. */
  readonly subject?: string | undefined;
}

/** Shorter than a small call. The output of one batch fits into the processor's cache. */
const batchMs = 0.5;

/** Reading the clock takes as long as some of this work, so it happens only once per this many units. */
const unitsPerLook = 200;

/** A time slice of long work. */
export class Batch {
  #endMs = 0;
  #units = 0;

  begin(): void {
    this.#endMs = performance.now() + batchMs;
    this.#units = 0;
  }

  /**
   * Counts finished work. Returns whether the time slice is used up, so that the work must yield.
   *
   * @param units the amount of work: 200 units take about 0.05 ms. A number or short text in a list counts as 1.
   */
  isOverAfter(units: number): boolean {
    this.#units += units;
    if (this.#units < unitsPerLook) return false;
    this.#units = 0;
    return performance.now() >= this.#endMs;
  }
}

/** Batches that wait for their turn. There is one event loop, so the queue covers the whole process. */
const waiting = new RoundRobin<() => void>();

/** The last task of each caller. A caller's tasks run one after another. */
const lines = new Map<string | undefined, Promise<unknown>>();

/**
 * Runs long work in batches. One batch runs per iteration of the event loop, and the callers take turns. A small call
 * therefore waits for one batch at most, however much work is queued. A caller's tasks run one after another, so that
 * the first ends early instead of all ending late.
 *
 * @param runBatch runs one batch. The last one returns the result, the others undefined.
 */
export async function inTurns<Result>({ subject }: TurnTaker, runBatch: () => Result | undefined): Promise<Result> {
  const work = async () => {
    for (;;) {
      await nextTurn(subject);
      const result = runBatch();
      if (result !== undefined) return result;
    }
  };
  const before = lines.get(subject);
  const done = before === undefined ? work() : before.then(work, work);
  lines.set(subject, done);
  try {
    return await done;
  } finally {
    if (lines.get(subject) === done) lines.delete(subject);
  }
}

function nextTurn(subject: string | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.size === 0) setImmediate(giveTurn);
    waiting.push(subject, resolve);
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  // The batch that got this turn runs first, in a microtask.
  if (waiting.size > 0) setImmediate(giveTurn);
}
