import { commonErrors, fail } from '../../errors/errors.ts';
import { Batch, inTurns, type TurnTaker } from './turns.ts';

// The maximum size of an answer; a larger one would take too much memory and time.
const maxAnswerBytes = 64 * 1024 * 1024;

/** A generator that encodes something long. At the end of each batch, it yields the length written in that batch. */
export type Encoding<Encoded> = Generator<number, Encoded, void>;

/**
 * Encodes a response in batches, and lets other calls run between them. A short response takes a single
 * batch and is encoded at once.
 *
 * @throws RESOURCE_EXHAUSTED as soon as the output exceeds 64 MiB.
 */
export async function encodeInBatches<Encoded extends Buffer | string>(
  caller: TurnTaker,
  encode: (batch: Batch) => Encoding<Encoded>,
): Promise<Encoded> {
  const batch = new Batch();
  const encoding = encode(batch);
  let written = 0;
  const runBatch = () => {
    batch.begin();
    const { done, value } = encoding.next();
    written = done ? value.length : written + value;
    if (written > maxAnswerBytes) throw fail(commonErrors.answerTooLarge);
    return done ? value : undefined;
  };
  return runBatch() ?? inTurns(caller, runBatch);
}

/** Collects a long text in batches. Appending to a text is faster than joining a list of texts. */
export class TextWriter {
  #text = '';
  #length = 0;

  write(text: string): this {
    this.#text += text;
    this.#length += text.length;
    return this;
  }

  /** Ends a batch. Returns the number of characters written in it. */
  flush(): number {
    const length = this.#length;
    this.#length = 0;
    return length;
  }

  finish(): string {
    return this.#text;
  }
}
