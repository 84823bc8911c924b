import type { DescField, DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import { type Encoding, encodeInBatches, TextWriter } from './batches.ts';
import { EncodedResponse } from './encoding.ts';
import { FieldWriter, mapKey, mapValue } from './field-writer.ts';
import { type EncodedFields, encoderOf } from './fields-encoder.ts';
import type { Batch, TurnTaker } from './turns.ts';

/** The work of encoding a small message, in the units of `Batch`. */
const unitsPerMessage = 10;

/** An item with more messages than this is encoded in batches itself. */
const maxAtOnce = 100;

/** A message with long lists, whose items are mapped only when they are encoded. */
export interface LongMessage<Schema extends DescMessage = DescMessage> {
  readonly schema: Schema;
  /** All fields except the lists and `more`. */
  readonly fields: MessageInitShape<Schema>;
  readonly lists: readonly LongList[];
  readonly more: EncodedFields | undefined;
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
  more?: EncodedFields,
): LongMessage<Schema> {
  return { schema, fields, lists, more, size: lists.reduce((sum, { size }) => sum + size, 1) };
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

function* encodeBinary(batch: Batch, long: LongMessage): Encoding<Buffer> {
  const writer = new FieldWriter();
  yield* writeBinary(batch, writer, long);
  return writer.finish();
}

function* writeBinary(batch: Batch, writer: FieldWriter, long: LongMessage): Iterable<number> {
  writeOwnFields(writer, long);
  if (batch.isOverAfter(unitsPerMessage)) yield writer.flush();
  for (const { field, items } of long.lists) {
    for (const item of items()) {
      openItem(writer, field, item);
      if (item.size > maxAtOnce) yield* writeBinary(batch, writer, item.long);
      else writeAtOnce(writer, item.long);
      closeItem(writer, item);
      if (batch.isOverAfter(item.size * unitsPerMessage)) yield writer.flush();
    }
  }
}

function writeAtOnce(writer: FieldWriter, long: LongMessage): void {
  writeOwnFields(writer, long);
  for (const { field, items } of long.lists) {
    for (const item of items()) {
      openItem(writer, field, item);
      writeAtOnce(writer, item.long);
      closeItem(writer, item);
    }
  }
}

function writeOwnFields(writer: FieldWriter, { schema, fields, more }: LongMessage): void {
  writer.fields(schema, fields);
  if (more !== undefined) writer.raw(more.bytes);
}

function openItem(writer: FieldWriter, { number }: DescField, { key }: Item): void {
  writer.open(number);
  if (key !== undefined) writer.int32(mapKey, key).open(mapValue);
}

function closeItem(writer: FieldWriter, { key }: Item): void {
  if (key !== undefined) writer.close();
  writer.close();
}

function* encodeJson(batch: Batch, long: LongMessage): Encoding<string> {
  const writer = new TextWriter();
  yield* writeJson(batch, writer, long);
  return writer.finish();
}

function* writeJson(batch: Batch, writer: TextWriter, long: LongMessage): Iterable<number> {
  const own = ownMembers(long);
  writer.write(`{${own.join()}`);
  if (batch.isOverAfter(unitsPerMessage)) yield writer.flush();
  let comma = own.length === 0 ? '' : ',';
  for (const { field, items } of long.lists) {
    const [open = '', close = ''] = bracketsOf(field);
    writer.write(`${comma}"${field.jsonName}":${open}`);
    comma = '';
    for (const item of items()) {
      writer.write(`${comma}${keyOf(item)}`);
      comma = ',';
      if (item.size > maxAtOnce) yield* writeJson(batch, writer, item.long);
      else writer.write(toText(item.long));
      if (batch.isOverAfter(item.size * unitsPerMessage)) yield writer.flush();
    }
    writer.write(close);
    comma = ',';
  }
  writer.write('}');
}

function toText(long: LongMessage): string {
  const members = ownMembers(long);
  for (const { field, items } of long.lists) {
    const [open = '', close = ''] = bracketsOf(field);
    const texts = Array.from(items(), (item) => `${keyOf(item)}${toText(item.long)}`);
    members.push(`"${field.jsonName}":${open}${texts.join()}${close}`);
  }
  return `{${members.join()}}`;
}

const everyField = () => true;

/** The members of a message's JSON object, except its lists. */
function ownMembers({ schema, fields, lists, more }: LongMessage): string[] {
  const encoder = encoderOf(schema);
  if (lists.length === 0 && more === undefined) return encoder.toMembers(fields, everyField);
  const isOwn = (name: string) => !more?.names.has(name) && lists.every(({ field }) => field.localName !== name);
  const members = encoder.toMembers(fields, isOwn);
  if (more !== undefined) members.push(more.members);
  return members;
}

const keyOf = ({ key }: Item) => (key === undefined ? '' : `"${key}":`);

const bracketsOf = ({ fieldKind }: DescField) => (fieldKind === 'list' ? '[]' : fieldKind === 'map' ? '{}' : '');
