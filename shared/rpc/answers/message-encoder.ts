import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { type Answer, fieldsOf, itemsOf, type Named, Shared } from './answer.ts';
import type { Slice, Sliced } from './slices.ts';
import { isOwnType, scalarEncoderOf, unsupported, type ValueEncoder, valueEncoderOf } from './value-encoders.ts';
import type { TextWriter } from './writers.ts';
import { mapKey, mapValue, WireWriter } from './writers.ts';

const encoders = new Map<DescMessage, MessageEncoder>();

/** Returns the encoder of a message's fields (see `Answer`), which is compiled from the descriptor on first use. */
export function encoderOf(schema: DescMessage): MessageEncoder {
  return encoders.get(schema) ?? new MessageEncoder(schema);
}

/** Returns a message that is encoded once, for the many that contain it. */
export function share<Schema extends DescMessage>(schema: Schema, fields: Answer<Schema>): Shared {
  const encoder = encoderOf(schema);
  if (encoder.hasLists) throw new Error(`${schema.typeName} has lists, and must be encoded in slices`);
  return new Shared({
    toBinary() {
      const writer = new WireWriter();
      encoder.write(writer, fields);
      return writer.finish();
    },
    toJson: () => encoder.toJson(fields),
  });
}

/**
 * Encodes the fields of one type of message: in one go or, for messages that contain lists of messages, in slices
 * between which other calls run.
 */
export class MessageEncoder {
  readonly #fields: readonly (ValueField | NestedField)[];
  /** Whether such a message contains lists or maps of messages, itself or in a single message. */
  readonly hasLists: boolean;

  constructor(schema: DescMessage) {
    this.#fields = schema.fields.map((field) => {
      const { message } = field;
      if (field.oneof !== undefined) throw unsupported(field);
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

  *writeInSlices(slice: Slice, writer: WireWriter, fields: Named): Sliced<void> {
    for (const field of this.#fields) {
      const value = fields[field.name];
      if (value === undefined) continue;
      if (field instanceof NestedField) {
        yield* field.writeInSlices(slice, writer, value);
        continue;
      }
      const before = writer.length;
      field.write(writer, value);
      if (slice.isOverAfterWriting(writer.length - before)) yield;
    }
  }

  /** Returns protobuf's JSON. */
  toJson(fields: Named): string {
    let json = '';
    for (const field of this.#fields) {
      const value = fields[field.name];
      if (value !== undefined) json += `${json === '' ? '{' : ','}${field.jsonKey}${field.toJson(value)}`;
    }
    return json === '' ? '{}' : `${json}}`;
  }

  *writeJsonInSlices(slice: Slice, writer: TextWriter, fields: Named): Sliced<void> {
    let mark = '{';
    for (const field of this.#fields) {
      const value = fields[field.name];
      if (value === undefined) continue;
      writer.add(mark + field.jsonKey);
      mark = ',';
      if (field instanceof NestedField) {
        yield* field.writeJsonInSlices(slice, writer, value);
        continue;
      }
      const before = writer.length;
      writer.add(field.toJson(value));
      if (slice.isOverAfterWriting(writer.length - before)) yield;
    }
    writer.add(mark === '{' ? '{}' : '}');
  }
}

/** A field of scalars, enums or protobuf's own types: a single one, a list or a map. */
class ValueField {
  readonly name: string;
  readonly jsonKey: string;
  readonly #number: number;
  readonly #isList: boolean;
  readonly #hasPresence: boolean;
  readonly #encoder: ValueEncoder;

  constructor(field: DescField) {
    this.name = field.localName;
    this.jsonKey = `"${field.jsonName}":`;
    this.#number = field.number;
    this.#isList = field.fieldKind === 'list' || field.fieldKind === 'map';
    this.#hasPresence = field.presence !== FeatureSet_FieldPresence.IMPLICIT;
    this.#encoder = valueEncoderOf(field);
  }

  write(writer: WireWriter, value: unknown): void {
    const { wireType, zero, write } = this.#encoder;
    if (!this.#isList) {
      if (this.#hasPresence || value !== zero) write(writer.tag(this.#number, wireType), value);
      return;
    }
    const items: unknown = value instanceof Map ? [...value] : value;
    if (!Array.isArray(items) || items.length === 0) return;
    if (wireType === WireType.LengthDelimited) {
      for (const item of items) write(writer.tag(this.#number, wireType), item);
      return;
    }
    const start = writer.tag(this.#number, WireType.LengthDelimited).open();
    for (const item of items) write(writer, item);
    writer.close(start);
  }

  toJson(value: unknown): string {
    const { toJson } = this.#encoder;
    if (value instanceof Map) return `{${Array.from(value, toJson).join()}}`;
    if (!this.#isList || !Array.isArray(value)) return toJson(value);
    // The runtime writes a list of ids in a fraction of the time. It may have a million.
    if (toJson === String || toJson === JSON.stringify) return JSON.stringify(value);
    return `[${value.map((item) => toJson(item)).join()}]`;
  }
}

const brackets = { list: ['[', ']'], map: ['{', '}'], message: ['', ''], scalar: ['', ''], enum: ['', ''] } as const;

/** A field of messages that have fields of their own: a single one, a list or a map. */
class NestedField {
  readonly name: string;
  readonly jsonKey: string;
  readonly hasLists: boolean;
  readonly #number: number;
  readonly #kind: DescField['fieldKind'];
  readonly #encoder: MessageEncoder;
  /** The encoder of a map's keys. */
  readonly #keys: ValueEncoder | undefined;

  constructor(field: DescField, message: DescMessage) {
    this.name = field.localName;
    this.jsonKey = `"${field.jsonName}":`;
    this.#number = field.number;
    this.#kind = field.fieldKind;
    this.#encoder = encoderOf(message);
    this.hasLists = field.fieldKind !== 'message' || this.#encoder.hasLists;
    this.#keys = field.fieldKind === 'map' ? scalarEncoderOf(field.mapKey, field) : undefined;
  }

  /** Writes a single message, which has no lists. */
  write(writer: WireWriter, value: unknown): void {
    this.#writeMessage(writer.tag(this.#number, WireType.LengthDelimited), value);
  }

  *writeInSlices(slice: Slice, writer: WireWriter, value: unknown): Sliced<void> {
    const { items, keys } = itemsOf(value);
    for (let index = 0; index < items.length; index += 1) {
      const item = items.at(index);
      const isLong = this.#encoder.hasLists && !(item instanceof Shared);
      const before = writer.length;
      const entry = this.#beginItem(writer, keys?.[index]);
      if (isLong) {
        const start = writer.open();
        yield* this.#encoder.writeInSlices(slice, writer, fieldsOf(item));
        writer.close(start);
      } else {
        this.#writeMessage(writer, item);
      }
      if (entry !== undefined) writer.close(entry);
      if (!slice.isOverAfterWriting(isLong ? 0 : writer.length - before)) continue;
      writer.flush();
      yield;
    }
  }

  toJson(value: unknown): string {
    return value instanceof Shared ? value.json : this.#encoder.toJson(fieldsOf(value));
  }

  *writeJsonInSlices(slice: Slice, writer: TextWriter, value: unknown): Sliced<void> {
    const { items, keys } = itemsOf(value);
    const [open, close] = brackets[this.#kind];
    writer.add(open);
    for (let index = 0; index < items.length; index += 1) {
      const item = items.at(index);
      const isLong = this.#encoder.hasLists && !(item instanceof Shared);
      const before = writer.length;
      const mark = this.#jsonMark(index, keys);
      if (isLong) yield* this.#encoder.writeJsonInSlices(slice, writer.add(mark), fieldsOf(item));
      else writer.add(mark + this.toJson(item));
      if (!slice.isOverAfterWriting(isLong ? 0 : writer.length - before)) continue;
      writer.flush();
      yield;
    }
    writer.add(close);
  }

  /** Returns what precedes an item in JSON. */
  #jsonMark(index: number, keys: readonly unknown[] | undefined): string {
    return `${index > 0 ? ',' : ''}${keys === undefined ? '' : `"${keys[index]}":`}`;
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
}
