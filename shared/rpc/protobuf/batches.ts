import { commonErrors, fail } from '../../errors/errors.ts';
import { FieldWriter } from './field-writer.ts';
import { Batch, nextTurn, type TurnTaker } from './turns.ts';

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
  for (let written = 0; ; ) {
    const { done, value } = encoding.next();
    written = done ? value.length : written + value;
    if (written > maxAnswerBytes) throw fail(commonErrors.answerTooLarge);
    if (done) return value;
    await nextTurn(caller);
    batch.restart();
  }
}

/** Writes a long message in batches. */
export class BatchWriter extends FieldWriter {
  readonly #chunks: Buffer[] = [];
  /** How many messages are open. */
  #open = 0;
  /** A batch has ended while a message was open. */
  #isDue = false;
  #flushed = 0;

  override open(field: number): this {
    this.#open += 1;
    return super.open(field);
  }

  override close(): this {
    super.close();
    this.#open -= 1;
    if (this.#isDue) this.#flush();
    return this;
  }

  /** Ends a batch. Returns how many bytes were written; those of a message that is open count later. */
  flush(): number {
    this.#flush();
    const flushed = this.#flushed;
    this.#flushed = 0;
    return flushed;
  }

  override finish(): Buffer {
    const last = super.finish();
    return this.#chunks.length === 0 ? last : Buffer.concat([...this.#chunks.splice(0), last]);
  }

  #flush(): void {
    this.#isDue = this.#open > 0;
    if (this.#isDue) return;
    const chunk = super.finish();
    this.#chunks.push(chunk);
    this.#flushed += chunk.length;
  }
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

/** The size of a slice of a long list, which takes a fraction of a batch. */
const sliceSize = 500;
const nothing: readonly number[] = [];

/**
 * Writes a long list in slices, and looks at the clock in between. A short list is written at once.
 *
 * @param write writes a slice. It loops over the items itself, because a call for each would take longer
 * than many an item.
 * @param sizeOf how much work an item is: 1 where it is absent, of which 500 take some 0.2 ms.
 */
export function writeSlices<Item>(
  batch: Batch,
  writer: BatchWriter | TextWriter,
  items: readonly Item[],
  write: (slice: readonly Item[]) => void,
  sizeOf?: (item: Item) => number,
): Iterable<number> {
  const size = sizeOf === undefined ? items.length : items.reduce((sum, item) => sum + sizeOf(item), 0);
  if (size > sliceSize) return writeLong(batch, writer, items, write, sizeOf);
  write(items);
  return nothing;
}

/** The same for the items of a JSON array. `textOf` gives those of a slice, with commas in between; it may be empty. */
export function writeTexts<Item>(
  batch: Batch,
  writer: TextWriter,
  items: readonly Item[],
  textOf: (slice: readonly Item[]) => string,
  sizeOf?: (item: Item) => number,
): Iterable<number> {
  let comma = '';
  const write = (slice: readonly Item[]) => {
    const text = textOf(slice);
    if (text === '') return;
    writer.write(comma).write(text);
    comma = ',';
  };
  return writeSlices(batch, writer, items, write, sizeOf);
}

function* writeLong<Item>(
  batch: Batch,
  writer: BatchWriter | TextWriter,
  items: readonly Item[],
  write: (slice: readonly Item[]) => void,
  sizeOf?: (item: Item) => number,
): Iterable<number> {
  let [start, size] = [0, 0];
  for (const [index, item] of items.entries()) {
    size += sizeOf?.(item) ?? 1;
    if (size < sliceSize) continue;
    write(items.slice(start, index + 1));
    if (batch.isOver) yield writer.flush();
    start = index + 1;
    size = 0;
  }
  write(items.slice(start));
}
