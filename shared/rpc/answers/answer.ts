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
              : Type;

/** A list of messages. */
export type List<Item> = readonly Item[] | Mapped<Item>;

/** A list whose items are made of rows when they are encoded, one by one, so that they are not all in memory at once. */
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
  readonly #encode: { toBinary(): Buffer; toJson(): Buffer };
  #binary: Buffer | undefined;
  #json: Buffer | undefined;

  constructor(encode: { toBinary(): Buffer; toJson(): Buffer }) {
    this.#encode = encode;
  }

  get binary(): Buffer {
    this.#binary ??= this.#encode.toBinary();
    return this.#binary;
  }

  get json(): Buffer {
    this.#json ??= this.#encode.toJson();
    return this.#json;
  }
}
