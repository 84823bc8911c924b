import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { type Answer, type List, Mapped, Shared } from './answer.ts';
import type { Batches, EncodingBatch } from './batches.ts';
import { JsonWriter } from './json-writer.ts';
import { isWellKnown, scalarEncoderOf, type ValueEncoder, valueEncoderOf } from './value-encoders.ts';
import { mapKey, mapValue, WireWriter } from './wire-writer.ts';

/** A message with a longer list is encoded in batches. */
const maxAtOnce = 100;

const encoders = new Map<DescMessage, MessageEncoder>();

/** Returns the encoder of a message's fields (see `Answer`), which is compiled from the descriptor on first use. */
export function encoderOf(schema: DescMessage): MessageEncoder {
  return encoders.get(schema) ?? new MessageEncoder(schema);
}

/** Returns a message that is encoded once, for the many that contain it. */
export function share<Schema extends DescMessage>(schema: Schema, fields: Answer<Schema>): Shared {
  const encoder = encoderOf(schema);
  return new Shared({
    toBinary() {
      const writer = new WireWriter();
      encoder.write(writer, fields);
      return writer.finish();
    },
    toJson() {
      const writer = new JsonWriter();
      encoder.writeJson(writer, fields);
      return writer.finish();
    },
  });
}

/** The fields of a message by name. */
type Named = Readonly<Record<string, unknown>>;

/** Encodes the fields of one type of message: at once, or in batches between which other calls run. */
export class MessageEncoder {
  readonly #fields: readonly (ValueField | NestedField)[];
  readonly #nested: readonly NestedField[];

  constructor(schema: DescMessage) {
    // Before its fields are compiled, because a message may contain itself.
    encoders.set(schema, this);
    this.#fields = schema.fields.map((field) => {
      const { message } = field;
      return message === undefined || isWellKnown(message) ? new ValueField(field) : new NestedField(field, message);
    });
    this.#nested = this.#fields.filter((field) => field instanceof NestedField);
  }

  /** Whether a message has so much in its lists that it is encoded in batches. */
  isLong(fields: Named): boolean {
    return this.#nested.length > 0 && this.#nested.some((field) => field.isLong(fields[field.name]));
  }

  write(writer: WireWriter, fields: Named): void {
    for (const field of this.#fields) {
      const value = fields[field.name];
      if (value !== undefined) field.write(writer, value);
    }
  }

  *writeInBatches(batch: EncodingBatch, writer: WireWriter, fields: Named): Batches<void> {
    for (const field of this.#fields) {
      const value = fields[field.name];
      if (value === undefined) continue;
      if (field instanceof NestedField) yield* field.writeInBatches(batch, writer, value);
      else field.write(writer, value);
    }
  }

  writeJson(writer: JsonWriter, fields: Named): void {
    let isFirst = true;
    for (const field of this.#fields) {
      const value = fields[field.name];
      if (value === undefined) continue;
      field.writeJson(writer.member(field.key, isFirst), value);
      isFirst = false;
    }
    writer.ascii(isFirst ? '{}' : '}');
  }

  *writeJsonInBatches(batch: EncodingBatch, writer: JsonWriter, fields: Named): Batches<void> {
    let isFirst = true;
    for (const field of this.#fields) {
      const value = fields[field.name];
      if (value === undefined) continue;
      writer.member(field.key, isFirst);
      isFirst = false;
      if (field instanceof NestedField) yield* field.writeJsonInBatches(batch, writer, value);
      else field.writeJson(writer, value);
    }
    writer.ascii(isFirst ? '{}' : '}');
  }
}

/** Returns what comes before the field's value in JSON. */
const keyOf = ({ jsonName }: DescField) => Buffer.from(`,"${jsonName}":`);

/** A field of scalars, enums or protobuf's own types. */
class ValueField {
  readonly name: string;
  readonly key: Buffer;
  readonly #number: number;
  readonly #isList: boolean;
  readonly #hasPresence: boolean;
  readonly #encoder: ValueEncoder;

  constructor(field: DescField) {
    this.name = field.localName;
    this.key = keyOf(field);
    this.#number = field.number;
    this.#isList = field.fieldKind === 'list';
    this.#hasPresence = field.presence !== FeatureSet_FieldPresence.IMPLICIT;
    this.#encoder = valueEncoderOf(field);
  }

  write(writer: WireWriter, value: unknown): void {
    const { wireType, zero, write } = this.#encoder;
    if (!this.#isList) {
      if (this.#hasPresence || value !== zero) write(writer.tag(this.#number, wireType), value);
      return;
    }
    if (!Array.isArray(value) || value.length === 0) return;
    if (wireType === WireType.LengthDelimited) {
      for (const item of value) write(writer.tag(this.#number, wireType), item);
      return;
    }
    const start = writer.tag(this.#number, WireType.LengthDelimited).open();
    for (const item of value) write(writer, item);
    writer.close(start);
  }

  writeJson(writer: JsonWriter, value: unknown): void {
    const { writeJson } = this.#encoder;
    if (!this.#isList) {
      writeJson(writer, value);
      return;
    }
    writer.ascii('[');
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) writeJson(index === 0 ? writer : writer.comma(), item);
    }
    writer.ascii(']');
  }
}

const brackets = { list: ['[', ']'], map: ['{', '}'], message: ['', ''], scalar: ['', ''], enum: ['', ''] } as const;

/** A field of messages that have fields of their own: a single one, a list or a map. */
class NestedField {
  readonly name: string;
  readonly key: Buffer;
  readonly #number: number;
  /** What encloses the messages in JSON. */
  readonly #open: string;
  readonly #close: string;
  readonly #encoder: MessageEncoder;
  /** The encoder of a map's keys. */
  readonly #keys: ValueEncoder | undefined;

  constructor(field: DescField, message: DescMessage) {
    this.name = field.localName;
    this.key = keyOf(field);
    this.#number = field.number;
    [this.#open, this.#close] = brackets[field.fieldKind];
    this.#encoder = encoderOf(message);
    this.#keys = field.fieldKind === 'map' ? scalarEncoderOf(field.mapKey) : undefined;
  }

  isLong(value: unknown): boolean {
    if (value === undefined) return false;
    if (isList(value)) return value.length > maxAtOnce;
    const items = value instanceof Map ? [...value.values()] : [value];
    return items.length > maxAtOnce || items.some((item) => this.#isLongItem(item));
  }

  write(writer: WireWriter, value: unknown): void {
    const { items, keys } = itemsOf(value);
    for (let index = 0; index < items.length; index += 1) this.#writeItem(writer, items.at(index), keys?.[index]);
  }

  *writeInBatches(batch: EncodingBatch, writer: WireWriter, value: unknown): Batches<void> {
    const { items, keys } = itemsOf(value);
    for (let index = 0; index < items.length; index += 1) {
      const item = items.at(index);
      if (this.#isLongItem(item)) {
        const message = new WireWriter();
        yield* this.#encoder.writeInBatches(batch, message, fieldsOf(item));
        this.#adopt(writer, message, keys?.[index]);
        continue;
      }
      const before = writer.length;
      this.#writeItem(writer, item, keys?.[index]);
      if (!batch.isOverAfterWriting(writer.length - before)) continue;
      writer.flush();
      yield;
    }
  }

  writeJson(writer: JsonWriter, value: unknown): void {
    const { items, keys } = itemsOf(value);
    writer.ascii(this.#open);
    for (let index = 0; index < items.length; index += 1) {
      if (index > 0) writer.comma();
      this.#writeJsonItem(writer, items.at(index), keys?.[index]);
    }
    writer.ascii(this.#close);
  }

  *writeJsonInBatches(batch: EncodingBatch, writer: JsonWriter, value: unknown): Batches<void> {
    const { items, keys } = itemsOf(value);
    writer.ascii(this.#open);
    for (let index = 0; index < items.length; index += 1) {
      if (index > 0) writer.comma();
      const item = items.at(index);
      if (this.#isLongItem(item)) {
        this.#writeJsonKey(writer, keys?.[index]);
        yield* this.#encoder.writeJsonInBatches(batch, writer, fieldsOf(item));
        continue;
      }
      const before = writer.length;
      this.#writeJsonItem(writer, item, keys?.[index]);
      if (!batch.isOverAfterWriting(writer.length - before)) continue;
      writer.flush();
      yield;
    }
    writer.ascii(this.#close);
  }

  #isLongItem(item: unknown): boolean {
    return !(item instanceof Shared) && this.#encoder.isLong(fieldsOf(item));
  }

  #writeItem(writer: WireWriter, item: unknown, key: unknown): void {
    writer.tag(this.#number, WireType.LengthDelimited);
    if (this.#keys === undefined) {
      this.#writeMessage(writer, item);
      return;
    }
    const start = writer.open();
    this.#keys.write(writer.tag(mapKey, this.#keys.wireType), key);
    this.#writeMessage(writer.tag(mapValue, WireType.LengthDelimited), item);
    writer.close(start);
  }

  #writeMessage(writer: WireWriter, item: unknown): void {
    if (item instanceof Shared) {
      writer.uint(item.binary.length).bytes(item.binary);
      return;
    }
    const start = writer.open();
    this.#encoder.write(writer, fieldsOf(item));
    writer.close(start);
  }

  /** Writes an item whose fields another writer has written. */
  #adopt(writer: WireWriter, message: WireWriter, key: unknown): void {
    writer.tag(this.#number, WireType.LengthDelimited);
    if (this.#keys === undefined) {
      writer.uint(message.length).adopt(message);
      return;
    }
    const entry = new WireWriter();
    this.#keys.write(entry.tag(mapKey, this.#keys.wireType), key);
    entry.tag(mapValue, WireType.LengthDelimited).uint(message.length).adopt(message);
    writer.uint(entry.length).adopt(entry);
  }

  #writeJsonItem(writer: JsonWriter, item: unknown, key: unknown): void {
    this.#writeJsonKey(writer, key);
    if (item instanceof Shared) writer.bytes(item.json);
    else this.#encoder.writeJson(writer, fieldsOf(item));
  }

  #writeJsonKey(writer: JsonWriter, key: unknown): void {
    if (this.#keys !== undefined) writer.string(String(key)).ascii(':');
  }
}

const isList = (value: unknown): value is List<unknown> => Array.isArray(value) || value instanceof Mapped;

/** Returns the messages of a field's value and, for a map, their keys. */
function itemsOf(value: unknown): { items: List<unknown>; keys: readonly unknown[] | undefined } {
  if (value instanceof Map) return { items: [...value.values()], keys: [...value.keys()] };
  return { items: isList(value) ? value : [value], keys: undefined };
}

const isNamed = (value: unknown): value is Named => typeof value === 'object' && value !== null;

function fieldsOf(message: unknown): Named {
  if (!isNamed(message)) throw new Error('a message is given by its fields');
  return message;
}
