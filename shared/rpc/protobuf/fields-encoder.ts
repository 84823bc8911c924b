import {
  create,
  type DescField,
  type DescMessage,
  type JsonValue,
  ScalarType,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { FeatureSet_FieldPresence, StructSchema } from '@bufbuild/protobuf/wkt';
import { jsonWriteOptions } from './encoding.ts';
import { writeStruct, writeValue } from './json-value.ts';

/**
 * Encodes fields, in the form that `create` takes, without creating a message: for a list, messages take longer to
 * create and to collect than to encode.
 */
export interface FieldsEncoder {
  /** Writes the fields in protobuf's binary form. */
  write(writer: BinaryWriter, fields: unknown): void;
  /** Returns the fields as members of a JSON object, without its braces. */
  toMembers(fields: unknown, isIncluded: (name: string) => boolean): string[];
}

const encoders = new Map<DescMessage, FieldsEncoder>();

/** Returns the encoder of a message's fields, compiled from its descriptor on first use. */
export function encoderOf(schema: DescMessage): FieldsEncoder {
  const known = encoders.get(schema);
  if (known !== undefined) return known;
  const encoder = compile(schema);
  encoders.set(schema, encoder);
  return encoder;
}

/** Further fields of a message that are encoded already, such as those that many messages have in common. */
export interface EncodedFields {
  /** Their names in the message. */
  readonly names: ReadonlySet<string>;
  readonly bytes: Uint8Array;
  /** The members of the JSON object. */
  readonly members: string;
}

// One writer serves all, because each would allocate a buffer of its own.
const writer = new BinaryWriter();

function encode(write: (writer: BinaryWriter) => void): Uint8Array {
  try {
    write(writer);
  } catch (error) {
    // Empties the writer, so that the next bytes do not begin with these.
    writer.finish();
    throw error;
  }
  return writer.finish();
}

/** Returns fields that are encoded once in each form, when they are first needed. */
export function sharedFields(schema: DescMessage, fields: object): EncodedFields {
  const names = new Set(Object.keys(fields));
  let bytes: Uint8Array | undefined;
  let members: string | undefined;
  return {
    names,
    get bytes() {
      bytes ??= encode((writer) => encoderOf(schema).write(writer, fields));
      return bytes;
    },
    get members() {
      members ??= encoderOf(schema)
        .toMembers(fields, (name) => names.has(name))
        .join();
      return members;
    },
  };
}

/** Returns a field of the type `google.protobuf.Value` from its JSON text, without a message for each value in it. */
export function valueField(field: DescField, text: string): EncodedFields {
  return {
    names: new Set([field.localName]),
    get bytes() {
      return encode((writer) => {
        writeValue(writer.tag(field.number, WireType.LengthDelimited).fork(), JSON.parse(text));
        writer.join();
      });
    },
    members: `"${field.jsonName}":${text}`,
  };
}

/** One field of an encoder. */
interface FieldEncoder {
  readonly name: string;
  readonly jsonName: string;
  /** Without presence, a zero value is not written. */
  readonly hasPresence: boolean;
  /** The JSON of the field when it is absent; undefined if it is then left out. */
  readonly absent: string | undefined;
  write(writer: BinaryWriter, value: unknown): void;
  toJson(value: unknown): string;
}

function compile(schema: DescMessage): FieldsEncoder {
  const fields = schema.fields.map(compileField).filter((field) => field !== undefined);
  if (fields.length < schema.fields.length) return generic(schema);
  return {
    write(writer, given) {
      if (!isRecord(given)) return;
      for (const { name, hasPresence, write } of fields) {
        const value = given[name];
        if (value !== undefined && (hasPresence || value)) write(writer, value);
      }
    },
    toMembers(given, isIncluded) {
      const members: string[] = [];
      if (!isRecord(given)) return members;
      for (const { name, jsonName, absent, toJson } of fields) {
        const value = given[name];
        const json = value === undefined ? absent : toJson(value);
        if (json !== undefined && isIncluded(name)) members.push(`"${jsonName}":${json}`);
      }
      return members;
    },
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The encoder of a message with kinds of fields that no long answer has in its items. */
function generic(schema: DescMessage): FieldsEncoder {
  const { fields } = schema;
  return {
    write: (writer, given) => void writer.raw(toBinary(schema, create(schema, Object(given)))),
    toMembers(given, isIncluded) {
      const json: Record<string, JsonValue> = Object(toJson(schema, create(schema, Object(given)), jsonWriteOptions));
      return fields
        .filter(({ jsonName, localName }) => isIncluded(localName) && json[jsonName] !== undefined)
        .map(({ jsonName }) => `"${jsonName}":${JSON.stringify(json[jsonName])}`);
    },
  };
}

function compileField(field: DescField): FieldEncoder | undefined {
  if (field.oneof !== undefined || field.fieldKind === 'map' || field.enum !== undefined) return undefined;
  const { localName: name, jsonName, number } = field;
  const hasPresence = field.fieldKind !== 'list' && field.presence !== FeatureSet_FieldPresence.IMPLICIT;
  const item = field.message === undefined ? scalars[field.scalar ?? ScalarType.BYTES] : messageEncoder(field.message);
  if (item === undefined) return undefined;
  const { wireType, write, toJson, zero } = item;
  if (field.fieldKind !== 'list') {
    const absent = hasPresence ? undefined : zero;
    return {
      name,
      jsonName,
      hasPresence,
      absent,
      toJson,
      write: (to, value) => write(to.tag(number, wireType), value),
    };
  }
  return {
    ...{ name, jsonName, hasPresence, absent: '[]' },
    toJson: (values) => (Array.isArray(values) ? `[${values.map(toJson).join()}]` : '[]'),
    write(to, values) {
      if (!Array.isArray(values) || values.length === 0) return;
      if (wireType === WireType.LengthDelimited) {
        for (const value of values) write(to.tag(number, wireType), value);
        return;
      }
      to.tag(number, WireType.LengthDelimited).fork();
      for (const value of values) write(to, value);
      to.join();
    },
  };
}

/** How one value of a type is encoded, without its tag. */
interface ValueEncoder {
  readonly wireType: WireType;
  readonly zero: string | undefined;
  write(writer: BinaryWriter, value: unknown): void;
  toJson(value: unknown): string;
}

const scalars: Partial<Record<ScalarType, ValueEncoder>> = {
  [ScalarType.INT32]: {
    ...{ wireType: WireType.Varint, zero: '0', toJson: String },
    write: (writer, value) => void writer.int32(Number(value)),
  },
  [ScalarType.INT64]: {
    ...{ wireType: WireType.Varint, zero: '"0"', toJson: (value: unknown) => `"${value}"` },
    write: (writer, value) => void writer.int64(typeof value === 'bigint' ? value : String(value)),
  },
  [ScalarType.BOOL]: {
    ...{ wireType: WireType.Varint, zero: 'false', toJson: String },
    write: (writer, value) => void writer.bool(value === true),
  },
  [ScalarType.STRING]: {
    ...{ wireType: WireType.LengthDelimited, zero: '""', toJson: (value: unknown) => JSON.stringify(value) },
    write: (writer, value) => void writer.string(String(value)),
  },
};

const structEncoder: ValueEncoder = {
  ...{ wireType: WireType.LengthDelimited, zero: undefined, toJson: (value: unknown) => JSON.stringify(value) },
  write(writer, value) {
    writeStruct(writer.fork(), value);
    writer.join();
  },
};

function messageEncoder(schema: DescMessage): ValueEncoder {
  // protobuf-es has the fields of this type as plain JSON.
  if (schema.typeName === StructSchema.typeName) return structEncoder;
  // Protobuf's own types have JSON forms of their own.
  const isOwn = schema.file.proto.package !== 'google.protobuf';
  return {
    wireType: WireType.LengthDelimited,
    zero: undefined,
    write(writer, value) {
      encoderOf(schema).write(writer.fork(), value);
      writer.join();
    },
    toJson: (value) =>
      isOwn
        ? `{${encoderOf(schema).toMembers(value, () => true)}}`
        : JSON.stringify(toJson(schema, create(schema, Object(value)), jsonWriteOptions)),
  };
}
