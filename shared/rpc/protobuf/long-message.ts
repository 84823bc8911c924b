import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  type MessageInitShape,
  type MessageShape,
  toJson,
  toJsonString,
} from '@bufbuild/protobuf';
import { type Encoding, encodeInBatches, TextWriter } from './batches.ts';
import { EncodedResponse, encodeMessage, jsonWriteOptions } from './encoding.ts';
import { FieldWriter } from './field-writer.ts';
import type { Batch, TurnTaker } from './turns.ts';

/** How much work it is to make and encode a small message (see `Batch`). */
const unitsPerMessage = 10;

/** A message with long lists, whose items become messages one by one, as they are encoded. */
export interface LongMessage<Schema extends DescMessage = DescMessage> {
  readonly schema: Schema;
  /** All but the lists. */
  readonly message: MessageShape<Schema>;
  readonly lists: readonly LongList[];
}

/** A field of a long message that holds messages: a list of them, or a single one. */
export interface LongList {
  readonly field: DescField;
  items(): Iterable<LongMessage>;
}

export function longMessage<Schema extends DescMessage>(
  schema: Schema,
  fields: MessageInitShape<Schema>,
  lists: readonly LongList[] = [],
): LongMessage<Schema> {
  return { schema, message: create(schema, fields), lists };
}

/** The messages that `toItem` makes of the rows. */
export function longList<Row>(field: DescField, rows: readonly Row[], toItem: (row: Row) => LongMessage): LongList {
  return {
    field,
    *items() {
      for (const row of rows) yield toItem(row);
    },
  };
}

/** A response that is a long message. It is encoded in batches. */
export class LongResponse<Output extends DescMessage> extends EncodedResponse<Output> {
  readonly #long: LongMessage<Output>;

  constructor(long: LongMessage<Output>) {
    super(long.schema);
    this.#long = long;
  }

  toBinary(caller: TurnTaker): Promise<Buffer> {
    return encodeInBatches(caller, (batch) => encodeBinary(batch, this.#long));
  }

  toJson(caller: TurnTaker): Promise<string> {
    return encodeInBatches(caller, (batch) => encodeJson(batch, this.#long));
  }

  override async toMessage(): Promise<MessageShape<Output>> {
    fill(this.#long);
    return this.#long.message;
  }
}

function* encodeBinary(batch: Batch, long: LongMessage): Encoding<Buffer> {
  const writer = new FieldWriter();
  yield* writeBinary(batch, writer, long);
  return writer.finish();
}

function* writeBinary(batch: Batch, writer: FieldWriter, { schema, message, lists }: LongMessage): Iterable<number> {
  // Fields may come in any order.
  writer.raw(encodeMessage(schema, message));
  for (const { field, items } of lists) {
    for (const item of items()) {
      writer.open(field.number);
      yield* writeBinary(batch, writer, item);
      writer.close();
      if (batch.isOverAfter(unitsPerMessage)) yield writer.flush();
    }
  }
}

function* encodeJson(batch: Batch, long: LongMessage): Encoding<string> {
  const writer = new TextWriter();
  yield* writeJson(batch, writer, long);
  return writer.finish();
}

function* writeJson(batch: Batch, writer: TextWriter, { schema, message, lists }: LongMessage): Iterable<number> {
  if (lists.length === 0) {
    writer.write(toJsonString(schema, message, jsonWriteOptions));
    return;
  }
  const all = Object.entries(toJson(schema, message, jsonWriteOptions) ?? {});
  const own = all.filter(([name]) => lists.every(({ field }) => field.jsonName !== name));
  writer.write(JSON.stringify(Object.fromEntries(own)).slice(0, -1));
  let commaBefore = own.length === 0 ? '' : ',';
  for (const { field, items } of lists) {
    const [begin, end] = field.fieldKind === 'list' ? '[]' : '';
    writer.write(`${commaBefore}"${field.jsonName}":${begin ?? ''}`);
    commaBefore = ',';
    let comma = '';
    for (const item of items()) {
      writer.write(comma);
      comma = ',';
      yield* writeJson(batch, writer, item);
      if (batch.isOverAfter(unitsPerMessage)) yield writer.flush();
    }
    writer.write(end ?? '');
  }
  writer.write('}');
}

/** Puts the lists into the message. */
function fill({ message, lists }: LongMessage): Message {
  for (const { field, items } of lists) {
    const filled = Array.from(items(), fill);
    Reflect.set(message, field.localName, field.fieldKind === 'list' ? filled : filled[0]);
  }
  return message;
}
