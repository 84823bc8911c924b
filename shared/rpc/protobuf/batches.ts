import { commonErrors, fail } from '../../errors/errors.ts';
import type { FieldWriter } from './field-writer.ts';
import { Batch, inTurns, type TurnTaker } from './turns.ts';

// No answer is larger: it would take too much memory and time.
const maxAnswerBytes = 64 * 1024 * 1024;

/** Encodes something long. Whenever its batch is over, it yields how much it has written in it. */
export type Encoding<Encoded> = Generator<number, Encoded, void>;

/**
 * Encodes a response in batches, between which other calls run. A short one is encoded at once.
 *
 * @throws RESOURCE_EXHAUSTED as soon as more than 64 MiB are written.
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

/** Writes a long text in batches. */
export class TextWriter {
  readonly #texts: string[] = [];
  #length = 0;

  write(text: string): this {
    this.#texts.push(text);
    this.#length += text.length;
    return this;
  }

  /** Ends a batch. Returns how many characters were written in it. */
  flush(): number {
    const length = this.#length;
    this.#length = 0;
    return length;
  }

  finish(): string {
    return this.#texts.join('');
  }
}

/** A list of more units than this is written in slices. */
export const sliceUnits = 200;
const nothing: readonly number[] = [];

/**
 * Writes a long list in slices, and yields when the batch is over. A short list is written at once.
 *
 * @param write writes a slice. It loops over the items itself, because to be called for each would take
 * as long as many an item.
 * @param unitsOf how much work an item is (see `Batch`); 1 where it is absent.
 */
export function writeSlices<Item>(
  batch: Batch,
  writer: FieldWriter | TextWriter,
  items: readonly Item[],
  write: (slice: readonly Item[]) => void,
  unitsOf?: (item: Item) => number,
): Iterable<number> {
  const units = unitsOf === undefined ? items.length : items.reduce((sum, item) => sum + unitsOf(item), 0);
  if (units > sliceUnits) return writeLong(batch, writer, items, write, unitsOf);
  write(items);
  return nothing;
}

/** The same for the items of a JSON array. `textOf` gives those of a slice, with commas in between; it may be empty. */
export function writeTexts<Item>(
  batch: Batch,
  writer: TextWriter,
  items: readonly Item[],
  textOf: (slice: readonly Item[]) => string,
  unitsOf?: (item: Item) => number,
): Iterable<number> {
  let comma = '';
  const write = (slice: readonly Item[]) => {
    const text = textOf(slice);
    if (text === '') return;
    writer.write(comma).write(text);
    comma = ',';
  };
  return writeSlices(batch, writer, items, write, unitsOf);
}

function* writeLong<Item>(
  batch: Batch,
  writer: FieldWriter | TextWriter,
  items: readonly Item[],
  write: (slice: readonly Item[]) => void,
  unitsOf?: (item: Item) => number,
): Iterable<number> {
  let [start, units] = [0, 0];
  for (const [index, item] of items.entries()) {
    units += unitsOf?.(item) ?? 1;
    if (units < sliceUnits) continue;
    write(items.slice(start, index + 1));
    if (batch.isOverAfter(units)) yield writer.flush();
    start = index + 1;
    units = 0;
  }
  write(items.slice(start));
}
