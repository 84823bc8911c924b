import type { DescMessage } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { encoderOf } from './fields-encoder.ts';

/** The fields of a map entry. */
export const mapKey = 1;
export const mapValue = 2;

/**
 * Writes the fields of one message with protobuf-es's writer, without creating the message. `open`, `close` and `flush`
 * write a long message in batches.
 */
export class FieldWriter {
  readonly #writer = new BinaryWriter();
  readonly #chunks: Buffer[] = [];
  /** The number of open messages. */
  #open = 0;
  /** Whether a batch has ended while a message was open, which postpones the flush. */
  #isDue = false;
  #flushed = 0;

  /** Returns the bytes written, and empties the writer. */
  finish(): Buffer {
    const last = this.#take();
    return this.#chunks.length === 0 ? last : Buffer.concat([...this.#chunks.splice(0), last]);
  }

  /** Begins a nested message; the following writes are its fields. */
  open(field: number): this {
    this.#writer.tag(field, WireType.LengthDelimited).fork();
    this.#open += 1;
    return this;
  }

  /** Ends the innermost open message. */
  close(): this {
    this.#writer.join();
    this.#open -= 1;
    if (this.#isDue) this.#flush();
    return this;
  }

  /** Ends a batch. Returns the number of bytes written. The bytes of an open message count in a later batch. */
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

  /** Writes an int32 or an enum, even if it is 0. */
  int32(field: number, value: number): this {
    this.#writer.tag(field, WireType.Varint).int32(value);
    return this;
  }

  /** Writes the fields of a message, in the form that `create` takes. */
  fields(schema: DescMessage, fields: unknown): this {
    encoderOf(schema).write(this.#writer, fields);
    return this;
  }

  /** Writes fields that are already encoded. */
  raw(value: Uint8Array): this {
    this.#writer.raw(value);
    return this;
  }
}
