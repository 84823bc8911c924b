const varint = 0;
const bit64 = 1;
const delimited = 2;

/** The fields of an entry of a map. */
export const mapKey = 1;
export const mapValue = 2;

/** Writes protobuf's wire format into one growing buffer; what a message would cost is left out. */
export class BinaryWriter {
  #buffer: Buffer;
  #length = 0;

  constructor(capacity = 1024) {
    this.#buffer = Buffer.allocUnsafe(capacity);
  }

  /** What was written. The writer is not used any more. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** A field of type int32, int64 or enum: a safe integer, written also when it is 0. */
  int(field: number, value: number): this {
    return this.#varint((field << 3) | varint).#signed(value);
  }

  /** A repeated field of such integers, packed. */
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

  /** A field of a message or of bytes that are written already. */
  bytes(field: number, value: Uint8Array): this {
    this.#varint((field << 3) | delimited).#varint(value.byteLength);
    return this.raw(value);
  }

  /** Fields that are written already. */
  raw(value: Uint8Array): this {
    this.#reserve(value.byteLength);
    this.#buffer.set(value, this.#length);
    this.#length += value.byteLength;
    return this;
  }

  /** A field of a message, whose fields `write` writes. */
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
    // The size takes more than the byte that was left for it.
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

  /** A negative integer is the two's complement of 64 bits, which takes ten bytes. */
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

/** How many bytes a size takes as a varint. */
function sizeOfVarint(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
}
