import type { Caller } from '../../db/caller.ts';
import { commonErrors, fail } from '../../errors/errors.ts';
import { RoundRobin } from '../../fairness/fair-queue.ts';

/** Shorter than a small call. The output of one slice fits into the processor's cache. */
const sliceMs = 0.5;

/** Reading the clock takes as long as some of this work, so it happens only once per this many units. */
const unitsPerLook = 200;

// The maximum size of an answer; a larger one would take too much memory and time.
const maxAnswerBytes = 64 * 1024 * 1024;

/** Writing this many bytes counts as one unit. */
const bytesPerUnit = 20;

/** Work that yields at the end of each slice. */
export type Sliced<Result> = Generator<undefined, Result, void>;

/** A time slice of long work. */
export class Slice {
  #endMs = 0;
  #units = 0;
  #written = 0;

  begin(): void {
    this.#endMs = performance.now() + sliceMs;
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

  /**
   * Counts an item of an answer, with its length in bytes, as `isOverAfter` counts work. Throws RESOURCE_EXHAUSTED when
   * the answer exceeds 64 MiB.
   */
  isOverAfterWriting(length: number): boolean {
    this.#written += length;
    if (this.#written > maxAnswerBytes) throw fail(commonErrors.answerTooLarge);
    return this.isOverAfter(1 + length / bytesPerUnit);
  }
}

/** Who waits for the work, until its signal aborts. */
export type Waiting = Partial<Pick<Caller, 'subject' | 'signal'>>;

/**
 * Does long work in slices. Short work takes a single one, at once. One slice runs per iteration of the event loop, and
 * the callers take turns. A small call therefore waits for one slice at most, however much work is queued. A caller's
 * tasks run one after another, so that the first ends early instead of all ending late.
 *
 * @param caller whose turns the work takes; without a `subject`, those of the process itself. When its signal aborts, the
 * work ends with the signal's reason, also while it waits for its turn.
 */
export async function inSlices<Result>(
  caller: Waiting | undefined,
  work: (slice: Slice) => Sliced<Result>,
): Promise<Result> {
  const { subject, signal } = caller ?? {};
  const slice = new Slice();
  const slices = work(slice);
  const runSlice = () => {
    signal?.throwIfAborted();
    slice.begin();
    return slices.next();
  };
  const first = runSlice();
  if (first.done) return first.value;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    const ended = inTurns(subject, runSlice).finally(() => signal?.removeEventListener('abort', abort));
    ended.then(resolve, reject);
  });
}

/** Slices that wait for their turn. There is one event loop, so the queue covers the whole process. */
const waiting = new RoundRobin<() => void>();

/** The last task of each caller. A caller's tasks run one after another. */
const lines = new Map<string | undefined, Promise<unknown>>();

async function inTurns<Result>(
  subject: string | undefined,
  runSlice: () => IteratorResult<undefined, Result>,
): Promise<Result> {
  const work = async () => {
    for (;;) {
      await nextTurn(subject);
      const { done, value } = runSlice();
      if (done) return value;
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
  // The slice that got this turn runs first, in a microtask.
  if (waiting.size > 0) setImmediate(giveTurn);
}
