import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** The fields of a map's entry. */
export const mapKey = 1;
export const mapValue = 2;

/**
 * Writes the fields of one message with the writer of protobuf-es, without creating the message. A long
 * one is written in batches: `open`, `close` and `flush` are for those.
 */
export class FieldWriter {
  readonly #writer = new BinaryWriter();
  readonly #chunks: Buffer[] = [];
  /** How many messages are open. */
  #open = 0;
  /** A batch has ended while a message was open. */
  #isDue = false;
  #flushed = 0;

  /** Returns what was written; the writer is empty afterwards. */
  finish(): Buffer {
    const last = this.#take();
    return this.#chunks.length === 0 ? last : Buffer.concat([...this.#chunks.splice(0), last]);
  }

  /** Begins a message: what is written from here on are its fields. */
  open(field: number): this {
    this.#writer.tag(field, WireType.LengthDelimited).fork();
    this.#open += 1;
    return this;
  }

  /** Ends the message that was begun last. */
  close(): this {
    this.#writer.join();
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

  #flush(): void {
    this.#isDue = this.#open > 0;
    if (this.#isDue) return;
    const chunk = this.#take();
    this.#chunks.push(chunk);
    this.#flushed += chunk.length;
  }

  #take(): Buffer {
    const bytes = this.#writer.finish();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Writes an int32 or an enum, also when it is 0. */
  int32(field: number, value: number): this {
    this.#writer.tag(field, WireType.Varint).int32(value);
    return this;
  }

  /** Writes fields that are encoded already. */
  raw(value: Uint8Array): this {
    this.#writer.raw(value);
    return this;
  }
}
