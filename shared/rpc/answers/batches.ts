import { commonErrors, fail } from '../../errors/errors.ts';
import { Batch, inTurns, type TurnTaker } from './turns.ts';

// The maximum size of an answer; a larger one would take too much memory and time.
const maxAnswerBytes = 64 * 1024 * 1024;

/** Writing this many bytes counts as one unit of a `Batch`. */
const bytesPerUnit = 20;

/** Work that yields at the end of each batch. */
export type Batches<Result> = Generator<undefined, Result, void>;

/** A time slice of encoding. */
export class EncodingBatch extends Batch {
  #written = 0;

  /**
   * Counts an item that was written, with its length in bytes. Returns whether the time slice is used up, so that the
   * work must yield. Throws RESOURCE_EXHAUSTED when the answer exceeds 64 MiB.
   */
  isOverAfterWriting(length: number): boolean {
    this.#written += length;
    if (this.#written > maxAnswerBytes) throw fail(commonErrors.answerTooLarge);
    return this.isOverAfter(1 + length / bytesPerUnit);
  }
}

/** Does long work in batches, and lets other calls run between them. Short work takes a single batch, at once. */
export async function inBatches<Slice extends Batch, Result extends object | string>(
  caller: TurnTaker,
  batch: Slice,
  work: (batch: Slice) => Batches<Result>,
): Promise<Result> {
  const batches = work(batch);
  const runBatch = () => {
    batch.begin();
    const { done, value } = batches.next();
    return done ? value : undefined;
  };
  return runBatch() ?? inTurns(caller, runBatch);
}

/** Encodes a response in batches. */
export function encodeInBatches<Encoded extends Buffer | string>(
  caller: TurnTaker,
  encode: (batch: EncodingBatch) => Batches<Encoded>,
): Promise<Encoded> {
  return inBatches(caller, new EncodingBatch(), encode);
}
