// The wire types that are written here.
const varint = 0;
const bit64 = 1;
const delimited = 2;

/** The field numbers of a map entry. */
export const mapKey = 1;
export const mapValue = 2;

/** Writes protobuf's wire format straight into one growing buffer, without message objects in between. */
export class BinaryWriter {
  #buffer: Buffer;
  #length = 0;

  constructor(capacity = 1024) {
    this.#buffer = Buffer.allocUnsafe(capacity);
  }

  /** The bytes written so far. The writer must not be used afterwards. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Writes an int32, int64 or enum field. The value must be a safe integer; 0 is written too. */
  int(field: number, value: number): this {
    return this.#varint((field << 3) | varint).#signed(value);
  }

  /** Writes a repeated field of such integers in packed form; nothing when it is empty. */
  ints(field: number, values: readonly number[]): this {
    if (values.length === 0) return this;
    return this.message(field, () => {
      for (const value of values) this.#signed(value);
    });
  }

  bool(field: number, value: boolean): this {
    return this.int(field, value ? 1 : 0);
  }

  double(field: number, value: number): this {
    this.#varint((field << 3) | bit64);
    this.#reserve(8);
    this.#length = this.#buffer.writeDoubleLE(value, this.#length);
    return this;
  }

  string(field: number, value: string): this {
    const size = Buffer.byteLength(value);
    this.#varint((field << 3) | delimited)
      .#varint(size)
      .#reserve(size);
    this.#length += this.#buffer.write(value, this.#length);
    return this;
  }

  /** Writes a bytes field, or a message field whose value is already encoded. */
  bytes(field: number, value: Uint8Array): this {
    this.#varint((field << 3) | delimited).#varint(value.byteLength);
    return this.raw(value);
  }

  /** Appends fields that are already encoded. */
  raw(value: Uint8Array): this {
    this.#reserve(value.byteLength);
    this.#buffer.set(value, this.#length);
    this.#length += value.byteLength;
    return this;
  }

  /** Writes a message field; `write` writes the fields inside. */
  message(field: number, write: (writer: this) => void): this {
    this.#varint((field << 3) | delimited).#reserve(1);
    const start = this.#length;
    this.#length += 1;
    write(this);
    const size = this.#length - start - 1;
    if (size < 0x80) {
      this.#buffer[start] = size;
      return this;
    }
    // The size needs more than the one byte that was kept free for it, so the content moves back.
    const extra = sizeOfVarint(size) - 1;
    this.#reserve(extra);
    this.#buffer.copyWithin(start + 1 + extra, start + 1, this.#length);
    this.#length = start;
    this.#varint(size);
    this.#length += size;
    return this;
  }

  #varint(value: number): this {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#length++] = rest;
    return this;
  }

  /** A negative integer is written as a 64-bit two's complement, which takes ten bytes. */
  #signed(value: number): this {
    if (value >= 0) return this.#varint(value);
    this.#reserve(10);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest >= 0x80n; rest >>= 7n) this.#buffer[this.#length++] = Number(rest & 0x7fn) | 0x80;
    this.#buffer[this.#length++] = Number(rest);
    return this;
  }

  #reserve(size: number): void {
    const needed = this.#length + size;
    if (needed <= this.#buffer.byteLength) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.byteLength * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** The number of bytes that a size takes as a varint. */
function sizeOfVarint(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
}
