import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { type Answer, type List, Mapped, Shared } from './answer.ts';
import type { Batches, EncodingBatch } from './batches.ts';
import { JsonWriter } from './json-writer.ts';
import { isOwnType, scalarEncoderOf, unsupported, type ValueEncoder, valueEncoderOf } from './value-encoders.ts';
import { mapKey, mapValue, WireWriter } from './wire-writer.ts';

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

/**
 * Encodes the fields of one type of message: in one go or, for messages that contain lists of messages, in batches
 * between which other calls run.
 */
export class MessageEncoder {
  readonly #fields: readonly (ValueField | NestedField)[];
  /** Whether such a message contains lists or maps of messages, itself or in a single message. */
  readonly hasLists: boolean;

  constructor(schema: DescMessage) {
    this.#fields = schema.fields.map((field) => {
      const { message } = field;
      if (field.oneof !== undefined || (field.fieldKind === 'map' && message === undefined)) throw unsupported(field);
      return message === undefined || isOwnType(message) ? new ValueField(field) : new NestedField(field, message);
    });
    this.hasLists = this.#fields.some((field) => field instanceof NestedField && field.hasLists);
    encoders.set(schema, this);
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
      if (field instanceof NestedField) {
        yield* field.writeInBatches(batch, writer, value);
        continue;
      }
      const before = writer.length;
      field.write(writer, value);
      if (batch.isOverAfterWriting(writer.length - before)) yield;
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
      if (field instanceof NestedField) {
        yield* field.writeJsonInBatches(batch, writer, value);
        continue;
      }
      const before = writer.length;
      field.writeJson(writer, value);
      if (batch.isOverAfterWriting(writer.length - before)) yield;
    }
    writer.ascii(isFirst ? '{}' : '}');
  }
}

/** Returns the comma and the name that precede the field's value in JSON. */
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
  readonly hasLists: boolean;
  readonly #number: number;
  /** The brackets around the messages in JSON; empty for a single message. */
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
    this.hasLists = field.fieldKind !== 'message' || this.#encoder.hasLists;
    this.#keys = field.fieldKind === 'map' ? scalarEncoderOf(field.mapKey, field) : undefined;
  }

  write(writer: WireWriter, value: unknown): void {
    const { items, keys } = itemsOf(value);
    for (let index = 0; index < items.length; index += 1) {
      const entry = this.#beginItem(writer, keys?.[index]);
      this.#writeMessage(writer, items.at(index));
      if (entry !== undefined) writer.close(entry);
    }
  }

  *writeInBatches(batch: EncodingBatch, writer: WireWriter, value: unknown): Batches<void> {
    const { items, keys } = itemsOf(value);
    for (let index = 0; index < items.length; index += 1) {
      const item = items.at(index);
      const isLong = this.#encoder.hasLists && !(item instanceof Shared);
      const before = writer.length;
      const entry = this.#beginItem(writer, keys?.[index]);
      if (isLong) {
        const start = writer.open();
        yield* this.#encoder.writeInBatches(batch, writer, fieldsOf(item));
        writer.close(start);
      } else {
        this.#writeMessage(writer, item);
      }
      if (entry !== undefined) writer.close(entry);
      if (!batch.isOverAfterWriting(isLong ? 0 : writer.length - before)) continue;
      writer.flush();
      yield;
    }
  }

  writeJson(writer: JsonWriter, value: unknown): void {
    const { items, keys } = itemsOf(value);
    writer.ascii(this.#open);
    for (let index = 0; index < items.length; index += 1) {
      this.#beginJsonItem(writer, index, keys?.[index]);
      this.#writeJsonMessage(writer, items.at(index));
    }
    writer.ascii(this.#close);
  }

  *writeJsonInBatches(batch: EncodingBatch, writer: JsonWriter, value: unknown): Batches<void> {
    const { items, keys } = itemsOf(value);
    writer.ascii(this.#open);
    for (let index = 0; index < items.length; index += 1) {
      const item = items.at(index);
      const isLong = this.#encoder.hasLists && !(item instanceof Shared);
      const before = writer.length;
      this.#beginJsonItem(writer, index, keys?.[index]);
      if (isLong) yield* this.#encoder.writeJsonInBatches(batch, writer, fieldsOf(item));
      else this.#writeJsonMessage(writer, item);
      if (!batch.isOverAfterWriting(isLong ? 0 : writer.length - before)) continue;
      writer.flush();
      yield;
    }
    writer.ascii(this.#close);
  }

  /** Writes what precedes a message. Returns the start of its map entry, which ends after the message. */
  #beginItem(writer: WireWriter, key: unknown): number | undefined {
    writer.tag(this.#number, WireType.LengthDelimited);
    if (this.#keys === undefined) return undefined;
    const entry = writer.open();
    this.#keys.write(writer.tag(mapKey, this.#keys.wireType), key);
    writer.tag(mapValue, WireType.LengthDelimited);
    return entry;
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

  #beginJsonItem(writer: JsonWriter, index: number, key: unknown): void {
    if (index > 0) writer.comma();
    if (this.#keys !== undefined) writer.string(String(key)).ascii(':');
  }

  #writeJsonMessage(writer: JsonWriter, item: unknown): void {
    if (item instanceof Shared) writer.bytes(item.json);
    else this.#encoder.writeJson(writer, fieldsOf(item));
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
