import { ByteWriter } from './byte-writer.ts';

const [quote, comma, brace] = [0x22, 0x2c, 0x7b];

/** A character that JSON may have to escape: all but printable ASCII without the quote and the backslash. */
const mayNeedEscape = /[^ !#-[\]-~]/;

/** Writes JSON in UTF-8. */
export class JsonWriter extends ByteWriter {
  /** Begins a member of an object. `key` is `,"name":`. For the first member, its comma becomes the object's brace. */
  member(key: Uint8Array, isFirst: boolean): this {
    this.reserve(key.length);
    const { buffer, end } = this;
    // So few bytes are copied faster one by one than by a call.
    for (let index = 0; index < key.length; index += 1) buffer[end + index] = key[index] ?? 0;
    if (isFirst) buffer[end] = brace;
    this.end = end + key.length;
    return this;
  }

  comma(): this {
    this.reserve(1);
    this.buffer[this.end++] = comma;
    return this;
  }

  /** Writes text that has ASCII alone, such as a number or a bracket. */
  ascii(text: string): this {
    this.reserve(text.length);
    const { buffer, end } = this;
    for (let index = 0; index < text.length; index += 1) buffer[end + index] = text.charCodeAt(index);
    this.end = end + text.length;
    return this;
  }

  /** Writes a string, with its quotes. */
  string(text: string): this {
    if (mayNeedEscape.test(text)) return this.utf8(JSON.stringify(text));
    this.reserve(text.length + 2);
    this.buffer[this.end++] = quote;
    this.end += this.buffer.write(text, this.end);
    this.buffer[this.end++] = quote;
    return this;
  }
}
