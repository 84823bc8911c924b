import {
  create,
  type DescField,
  type DescMessage,
  type JsonValue,
  type Message,
  type MessageInitShape,
  toJson,
} from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import { type Encoding, encodeInBatches, TextWriter } from './batches.ts';
import { EncodedResponse, encodeMessage, jsonWriteOptions } from './encoding.ts';
import { FieldWriter, mapKey, mapValue } from './field-writer.ts';
import { encodeValue } from './json-value.ts';
import type { Batch, TurnTaker } from './turns.ts';

/** The work of creating and encoding a small message, in the units of `Batch`. */
const unitsPerMessage = 10;

/** How many small messages are created and encoded in one go. */
const sliceSize = 100;

/** A message with long lists, whose items become messages only when they are encoded. */
export interface LongMessage<Schema extends DescMessage = DescMessage> {
  readonly schema: Schema;
  /** All fields except the lists. */
  readonly fields: MessageInitShape<Schema>;
  readonly lists: readonly LongList[];
  /** A field of the type `google.protobuf.Value`, which never becomes a message when it is encoded. */
  readonly value?: { readonly field: DescField; readonly json: JsonValue } | undefined;
  /** The number of messages in it. */
  readonly size: number;
}

interface Item {
  /** The key of a map entry; undefined in a list. */
  readonly key: number | undefined;
  readonly long: LongMessage;
  /** The encoding work, as a number of small messages. */
  readonly size: number;
}

/** A field of a long message that contains messages: a list, a map or a single one. */
export interface LongList {
  readonly field: DescField;
  readonly size: number;
  items(): Iterable<Item>;
}

export function longMessage<Schema extends DescMessage>(
  schema: Schema,
  fields: MessageInitShape<Schema>,
  lists: readonly LongList[] = [],
  value?: LongMessage['value'],
): LongMessage<Schema> {
  return { schema, fields, lists, value, size: lists.reduce((sum, { size }) => sum + size, 1) };
}

/**
 * Creates a field with the messages that `toItem` makes of the rows.
 *
 * @param extra the work of encoding a row's numbers and texts, as a number of small messages; 0 by default.
 */
export function longList<Row>(
  field: DescField,
  rows: readonly Row[],
  toItem: (row: Row) => LongMessage,
  extra?: (row: Row) => number,
): LongList {
  return {
    field,
    size: extra === undefined ? rows.length : rows.reduce((sum, row) => sum + 1 + extra(row), 0),
    *items() {
      for (const row of rows) {
        const long = toItem(row);
        yield { key: undefined, long, size: long.size + (extra?.(row) ?? 0) };
      }
    },
  };
}

/**
 * Creates a map field, keyed by number, with the messages that `toItem` makes of the rows. `extra` is as in `longList`.
 */
export function longMap<Row>(
  field: DescField,
  rows: readonly (readonly [key: number, row: Row])[],
  toItem: (row: Row) => LongMessage,
  extra?: (row: Row) => number,
): LongList {
  const list = longList(field, rows, ([, row]) => toItem(row), extra && (([, row]) => extra(row)));
  return {
    ...list,
    *items() {
      let index = 0;
      for (const item of list.items()) {
        yield { ...item, key: rows[index]?.[0] };
        index += 1;
      }
    },
  };
}

/** A response that is a long message. Each encoding is produced in batches, once for all calls that share it. */
export class LongResponse<Output extends DescMessage> extends EncodedResponse<Output> {
  readonly #long: LongMessage<Output>;
  #binary: Promise<Buffer> | undefined;
  #json: Promise<string> | undefined;

  constructor(long: LongMessage<Output>) {
    super(long.schema);
    this.#long = long;
  }

  toBinary(caller: TurnTaker): Promise<Buffer> {
    this.#binary ??= encodeInBatches(caller, (batch) => encodeBinary(batch, this.#long));
    return this.#binary;
  }

  toJson(caller: TurnTaker): Promise<string> {
    this.#json ??= encodeInBatches(caller, (batch) => encodeJson(batch, this.#long));
    return this.#json;
  }
}

/** Creates a message with all its lists, ready to be encoded in binary form. */
function toEncodable({ schema, fields, lists, value }: LongMessage): Message {
  const filled = lists.map(({ field, items }) => [field.localName, toValue(field, [...items()])]);
  return withValue(create(schema, lists.length === 0 ? fields : { ...fields, ...Object.fromEntries(filled) }), value);
}

/** Adds a value as an unknown field, which protobuf-es writes as it is. */
function withValue(message: Message, value: LongMessage['value']): Message {
  if (value === undefined) return message;
  const data = encodeValue(value.json);
  message.$unknown = [{ no: value.field.number, wireType: WireType.LengthDelimited, data }];
  return message;
}

/** Returns items as the value of their field. */
function toValue({ fieldKind }: DescField, items: readonly Item[]): unknown {
  const messages = items.map(({ long }) => toEncodable(long));
  if (fieldKind === 'map') return Object.fromEntries(items.map(({ key }, index) => [key, messages[index]]));
  return fieldKind === 'list' ? messages : messages[0];
}

/** Items that are encoded in one go, or a single larger item. */
interface Slice {
  readonly items: readonly Item[];
  readonly size: number;
}

function* slices({ items }: LongList): Iterable<Slice> {
  let [slice, size]: [Item[], number] = [[], 0];
  for (const item of items()) {
    if (slice.length > 0 && size + item.size > sliceSize) {
      yield { items: slice, size };
      [slice, size] = [[], 0];
    }
    slice.push(item);
    size += item.size;
  }
  if (slice.length > 0) yield { items: slice, size };
}

/** Returns the item of a slice that must itself be encoded in slices; undefined if there is none. */
const longItemOf = ({ items: [first], size }: Slice) =>
  size > sliceSize && first !== undefined && first.long.lists.length > 0 ? first : undefined;

function* encodeBinary(batch: Batch, long: LongMessage): Encoding<Buffer> {
  const writer = new FieldWriter();
  yield* writeBinary(batch, writer, long);
  return writer.finish();
}

/** Writes a message in parts, each with a slice of its lists. Protobuf parsers merge consecutive parts of a message. */
function* writeBinary(batch: Batch, writer: FieldWriter, long: LongMessage): Iterable<number> {
  const { schema, fields, lists } = long;
  let { value } = long;
  let part: Record<string, unknown> = { ...fields };
  let partSize = 1;
  const endPart = () => {
    writer.raw(encodeMessage(schema, withValue(create(schema, part), value)));
    const isOver = batch.isOverAfter(partSize * unitsPerMessage);
    value = undefined;
    part = {};
    partSize = 0;
    return isOver;
  };
  for (const list of lists) {
    const { field } = list;
    for (const slice of slices(list)) {
      const longItem = longItemOf(slice);
      if (longItem !== undefined) {
        const { key, long } = longItem;
        // Ends the part first, so that the items of the list stay in order.
        if (field.localName in part && endPart()) yield writer.flush();
        writer.open(field.number);
        if (key !== undefined) writer.int32(mapKey, key).open(mapValue);
        yield* writeBinary(batch, writer, long);
        if (key !== undefined) writer.close();
        writer.close();
        continue;
      }
      const isFull = field.localName in part || partSize + slice.size > sliceSize;
      if (isFull && endPart()) yield writer.flush();
      part[field.localName] = toValue(field, slice.items);
      partSize += slice.size;
    }
  }
  if (endPart()) yield writer.flush();
}

function* encodeJson(batch: Batch, long: LongMessage): Encoding<string> {
  const writer = new TextWriter();
  yield* writeJson(batch, writer, long);
  return writer.finish();
}

function* writeJson(batch: Batch, writer: TextWriter, long: LongMessage): Iterable<number> {
  const { schema, fields, lists, value, size } = long;
  if (lists.length === 0) {
    writer.write(JSON.stringify(itemToJson(long)));
    if (batch.isOverAfter(size * unitsPerMessage)) yield writer.flush();
    return;
  }
  const all = Object.entries(toJson(schema, create(schema, { ...fields }), jsonWriteOptions) ?? {});
  const own = all.filter(([name]) => lists.every(({ field }) => field.jsonName !== name));
  writer.write(JSON.stringify(Object.fromEntries(own)).slice(0, -1));
  let commaBefore = own.length === 0 ? '' : ',';
  for (const list of lists) {
    const { field } = list;
    const [open = '', close = ''] = { list: '[]', map: '{}' }[String(field.fieldKind)] ?? '';
    writer.write(`${commaBefore}"${field.jsonName}":${open}`);
    commaBefore = ',';
    let comma = '';
    const begin = (key: number | undefined) => {
      writer.write(key === undefined ? comma : `${comma}"${key}":`);
      comma = ',';
    };
    for (const slice of slices(list)) {
      const longItem = longItemOf(slice);
      if (longItem !== undefined) {
        begin(longItem.key);
        yield* writeJson(batch, writer, longItem.long);
        continue;
      }
      for (const { key, long: item } of slice.items) {
        begin(key);
        writer.write(JSON.stringify(itemToJson(item)));
      }
      if (batch.isOverAfter(slice.size * unitsPerMessage)) yield writer.flush();
    }
    writer.write(close);
  }
  if (value !== undefined) writer.write(`,"${value.field.jsonName}":${JSON.stringify(value.json)}`);
  writer.write('}');
}

function itemToJson({ schema, fields, lists, value }: LongMessage): JsonValue {
  const json = toJson(schema, create(schema, fields), jsonWriteOptions);
  const filled = lists.map(({ field, items }) => [field.jsonName, itemsToJson(field, [...items()])]);
  if (value !== undefined) filled.push([value.field.jsonName, value.json]);
  return filled.length === 0 ? json : Object.assign(Object(json), Object.fromEntries(filled));
}

function itemsToJson({ fieldKind }: DescField, items: readonly Item[]): JsonValue | undefined {
  if (fieldKind === 'map') return Object.fromEntries(items.map(({ key, long }) => [key, itemToJson(long)]));
  const list = items.map(({ long }) => itemToJson(long));
  return fieldKind === 'list' ? list : list[0];
}
