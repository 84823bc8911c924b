import { RoundRobin } from '../../fairness/round-robin.ts';

/** On whose behalf something long is done: turns are shared out by the token's `sub` (design 8). */
export interface TurnTaker {
  /** Undefined for the process itself. */
  readonly subject?: string | undefined;
}

/** Less than a small call takes. What is written in it fits into a processor's cache. */
const batchMs = 0.5;

/** Reading the clock takes as long as some of this work. */
const unitsPerLook = 200;

/** A batch of some long work. It may go on until it is over. */
export class Batch {
  #endMs = 0;
  #units = 0;

  begin(): void {
    this.#endMs = performance.now() + batchMs;
    this.#units = 0;
  }

  /**
   * Counts work that was done. Returns whether the batch has taken its time: the work then has to yield.
   *
   * @param units of which 200 take some 0.05 ms, such as items of a list of numbers and short texts.
   */
  isOverAfter(units: number): boolean {
    this.#units += units;
    if (this.#units < unitsPerLook) return false;
    this.#units = 0;
    return performance.now() >= this.#endMs;
  }
}

/** The batches that wait for their turns, in the whole process: it has one event loop. */
const waiting = new RoundRobin<() => void>();

/** The long works of each caller, of which only the first one takes turns. */
const lines = new Map<string | undefined, Promise<unknown>>();

/**
 * Does something long in batches. Of all such works, one batch runs in each iteration of the event loop,
 * the callers in turn: a small call waits for one batch, however much else is under way. The works of
 * one caller come one after the other, so that the first is done early, and not all at the end.
 *
 * @param runBatch runs one batch; of the last one it returns the result.
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
  // What was given its turn runs before, in a microtask.
  if (waiting.size > 0) setImmediate(giveTurn);
}
