import type { DescMessage, JsonObject, JsonValue, Message, MessageShape } from '@bufbuild/protobuf';
import type { Timestamp, Value } from '@bufbuild/protobuf/wkt';

/**
 * The fields of a response, as handlers return them. They are encoded without a message, because creating messages and
 * collecting them as garbage takes longer than encoding. They are the fields of the message, but:
 *
 * - a `Timestamp` is epoch milliseconds, or RFC 3339 text;
 * - a `Value` or `Struct` is JSON, or its text as `JsonText`;
 * - a 64-bit integer is decimal text;
 * - a map is a `Map`;
 * - a list of messages may be `Mapped`;
 * - a message may be `Shared`.
 */
export type Answer<Schema extends DescMessage> = Fields<MessageShape<Schema>>;

type Fields<Shape> = {
  [Name in Exclude<keyof Shape, '$typeName' | '$unknown'> as object extends Pick<Shape, Name> ? never : Name]: Given<
    Shape[Name]
  >;
} & {
  [Name in Exclude<keyof Shape, '$typeName' | '$unknown'> as object extends Pick<Shape, Name> ? Name : never]?:
    | Given<Shape[Name]>
    | undefined;
};

type Given<Type> = Type extends Timestamp
  ? number | string
  : Type extends Value
    ? JsonValue | JsonText
    : JsonObject extends Type
      ? JsonObject | JsonText
      : Type extends bigint
        ? string
        : Type extends readonly (infer Item)[]
          ? Item extends Message
            ? List<Given<Item>>
            : readonly Item[]
          : Type extends Message
            ? Fields<Type> | Shared
            : Type extends Record<number, infer Item extends Message>
              ? ReadonlyMap<number, Fields<Item>>
              : Type extends Record<string, number>
                ? ReadonlyMap<string, number>
                : Type;

/** A list of messages. */
export type List<Item> = readonly Item[] | Mapped<Item>;

/**
 * A list whose items are made of rows when they are encoded, one by one, so that they are not all in memory at once.
 */
export class Mapped<Item> {
  readonly length: number;
  readonly at: (index: number) => Item | undefined;

  constructor(length: number, at: (index: number) => Item | undefined) {
    this.length = length;
    this.at = at;
  }
}

export function mapped<Row, Item>(rows: readonly Row[], toItem: (row: Row) => Item): Mapped<Item> {
  return new Mapped(rows.length, (index) => {
    const row = rows[index];
    return row === undefined ? undefined : toItem(row);
  });
}

/** The JSON text of a `Value` or a `Struct`. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A message that many others contain. It is encoded once in each form. See `share`. */
export class Shared {
  readonly #encode: { toBinary(): Buffer; toJson(): string };
  #binary: Buffer | undefined;
  #json: string | undefined;

  constructor(encode: { toBinary(): Buffer; toJson(): string }) {
    this.#encode = encode;
  }

  get binary(): Buffer {
    this.#binary ??= this.#encode.toBinary();
    return this.#binary;
  }

  get json(): string {
    this.#json ??= this.#encode.toJson();
    return this.#json;
  }
}

/** The fields of a message by name. */
export type Named = Readonly<Record<string, unknown>>;

const isList = (value: unknown): value is List<unknown> => Array.isArray(value) || value instanceof Mapped;

/** Returns the messages of a field's value and, for a map, their keys. */
export function itemsOf(value: unknown): { items: List<unknown>; keys?: readonly unknown[] } {
  if (value instanceof Map) return { items: [...value.values()], keys: [...value.keys()] };
  return { items: isList(value) ? value : [value] };
}

const isNamed = (value: unknown): value is Named => typeof value === 'object' && value !== null;

export function fieldsOf(message: unknown): Named {
  if (!isNamed(message)) throw new Error('a message is given by its fields');
  return message;
}

/** Formats epoch milliseconds as protobuf's JSON does, which omits a zero fraction. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/**
 * Converts a `timestamp` in UTC, of which PostgreSQL has made JSON such as `"2030-01-31T10:00:00.5"`, to RFC 3339. Its
 * microseconds are cut, not rounded.
 */
export function jsonTimeText(json: string): string {
  const ms = json.slice(21, -1).slice(0, 3).padEnd(3, '0');
  return `${json.slice(1, 20)}${ms === '000' ? '' : `.${ms}`}Z`;
}
