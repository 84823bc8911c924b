import { ByteWriter } from './byte-writer.ts';

/** Short texts are written together, up to this many UTF-16 code units. */
const maxPending = 4_096;

/** Writes text as UTF-8. */
export class TextWriter extends ByteWriter {
  #pending = '';

  /** The length so far: bytes, and UTF-16 code units of what is pending. */
  override get length(): number {
    return super.length + this.#pending.length;
  }

  add(text: string): this {
    this.#pending += text;
    if (this.#pending.length > maxPending) this.#writePending();
    return this;
  }

  override flush(): void {
    this.#writePending();
    super.flush();
  }

  #writePending(): void {
    this.utf8(this.#pending);
    this.#pending = '';
  }
}
