import { type DescEnum, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import { ListValueSchema, StructSchema, TimestampSchema, ValueSchema } from '@bufbuild/protobuf/wkt';
import { JsonText, timeText } from './answer.ts';
import { mapKey, mapValue, type WireWriter } from './writers.ts';

/** How one value of a type is encoded, without its tag or name. */
export interface ValueEncoder {
  readonly wireType: WireType;
  /** The value that the binary form omits in a field without presence. */
  readonly zero?: unknown;
  write(writer: WireWriter, value: unknown): void;
  /** Returns protobuf's JSON. */
  toJson(value: unknown): string;
}

const int32: ValueEncoder = {
  wireType: WireType.Varint,
  zero: 0,
  write: (writer, value) => void writer.int(Number(value)),
  toJson: String,
};
const int64: ValueEncoder = {
  wireType: WireType.Varint,
  zero: '0',
  write: (writer, value) => void writer.int(BigInt(String(value))),
  toJson: JSON.stringify,
};
const bool: ValueEncoder = {
  wireType: WireType.Varint,
  zero: false,
  write: (writer, value) => void writer.uint(value === true ? 1 : 0),
  toJson: String,
};
const double: ValueEncoder = {
  wireType: WireType.Bit64,
  zero: 0,
  write: (writer, value) => void writer.double(Number(value)),
  toJson: (value) => (Number.isFinite(value) ? String(value) : `"${value}"`),
};
const string: ValueEncoder = {
  wireType: WireType.LengthDelimited,
  zero: '',
  write: (writer, value) => void writer.string(String(value)),
  toJson: JSON.stringify,
};

const scalars = new Map([
  [ScalarType.INT32, int32],
  [ScalarType.INT64, int64],
  [ScalarType.BOOL, bool],
  [ScalarType.DOUBLE, double],
  [ScalarType.STRING, string],
]);

/** A time is given in epoch milliseconds, or as text as `timeText` makes it. */
const timestamp: ValueEncoder = {
  wireType: WireType.LengthDelimited,
  write(writer, value) {
    const { seconds, nanos } = TimestampSchema.field;
    const ms = typeof value === 'number' ? value : Date.parse(String(value));
    const wholeSeconds = Math.floor(ms / 1_000);
    const start = writer.open();
    if (wholeSeconds !== 0) writer.tag(seconds.number, WireType.Varint).int(wholeSeconds);
    const rest = ms - wholeSeconds * 1_000;
    if (rest !== 0) writer.tag(nanos.number, WireType.Varint).uint(rest * 1_000_000);
    writer.close(start);
  },
  toJson: (value) => `"${typeof value === 'number' ? timeText(value) : value}"`,
};
const struct: ValueEncoder = {
  wireType: WireType.LengthDelimited,
  write: (writer, value) => writeStruct(writer, parsed(value)),
  toJson: jsonOf,
};
const jsonValue: ValueEncoder = {
  wireType: WireType.LengthDelimited,
  write: (writer, value) => writeValue(writer, parsed(value)),
  toJson: jsonOf,
};

function parsed(value: unknown): unknown {
  return value instanceof JsonText ? JSON.parse(value.text) : value;
}

function jsonOf(value: unknown): string {
  return value instanceof JsonText ? value.text : JSON.stringify(value);
}

const ownTypes = new Map<string, ValueEncoder>([
  [TimestampSchema.typeName, timestamp],
  [StructSchema.typeName, struct],
  [ValueSchema.typeName, jsonValue],
]);

/** Whether a message is one of protobuf's own types, whose JSON differs from their fields. */
export const isOwnType = ({ file }: DescMessage) => file.proto.package === 'google.protobuf';

/** The error for a kind of field that no answer has yet. */
export const unsupported = (field: DescField) => new Error(`answers can't have a field like ${field.name} yet`);

/** Returns the encoder of a field's values. Throws for types that no answer has yet. */
export function valueEncoderOf(field: DescField): ValueEncoder {
  if (field.fieldKind === 'map') return entryEncoder(field);
  if (field.enum !== undefined) return enumEncoder(field.enum);
  const encoder = field.message === undefined ? undefined : ownTypes.get(field.message.typeName);
  return encoder ?? scalarEncoderOf(field.scalar, field);
}

export function scalarEncoderOf(scalar: ScalarType | undefined, field: DescField): ValueEncoder {
  const encoder = scalar === undefined ? undefined : scalars.get(scalar);
  if (encoder === undefined) throw unsupported(field);
  return encoder;
}

/** Encodes the entries of a map of scalars, each a pair of a key and its value. */
function entryEncoder(field: DescField & { fieldKind: 'map' }): ValueEncoder {
  const keys = scalarEncoderOf(field.mapKey, field);
  const values = scalarEncoderOf(field.scalar, field);
  return {
    wireType: WireType.LengthDelimited,
    write(writer, entry) {
      const [key, value] = Array.isArray(entry) ? entry : [];
      const start = writer.open();
      keys.write(writer.tag(mapKey, keys.wireType), key);
      values.write(writer.tag(mapValue, values.wireType), value);
      writer.close(start);
    },
    toJson(entry) {
      const [key, value] = Array.isArray(entry) ? entry : [];
      return `${JSON.stringify(String(key))}:${values.toJson(value)}`;
    },
  };
}

function enumEncoder({ value }: DescEnum): ValueEncoder {
  return { ...int32, toJson: (number) => JSON.stringify(value[Number(number)]?.name ?? number) };
}

const { nullValue, numberValue, stringValue, boolValue, structValue, listValue } = ValueSchema.field;

/** Writes JSON as a `google.protobuf.Value`, with its length. */
function writeValue(writer: WireWriter, value: unknown): void {
  const start = writer.open();
  if (value === null) writer.tag(nullValue.number, WireType.Varint).uint(0);
  else if (typeof value === 'number') writer.tag(numberValue.number, WireType.Bit64).double(value);
  else if (typeof value === 'string') writer.tag(stringValue.number, WireType.LengthDelimited).string(value);
  else if (typeof value === 'boolean') writer.tag(boolValue.number, WireType.Varint).uint(value ? 1 : 0);
  else if (Array.isArray(value)) {
    const list = writer.tag(listValue.number, WireType.LengthDelimited).open();
    for (const item of value)
      writeValue(writer.tag(ListValueSchema.field.values.number, WireType.LengthDelimited), item);
    writer.close(list);
  } else {
    writeStruct(writer.tag(structValue.number, WireType.LengthDelimited), value);
  }
  writer.close(start);
}

/** Writes a JSON object as a `google.protobuf.Struct`, with its length. */
function writeStruct(writer: WireWriter, value: unknown): void {
  const start = writer.open();
  for (const [key, item] of Object.entries(Object(value))) {
    const entry = writer.tag(StructSchema.field.fields.number, WireType.LengthDelimited).open();
    writer.tag(mapKey, WireType.LengthDelimited).string(key);
    writeValue(writer.tag(mapValue, WireType.LengthDelimited), item);
    writer.close(entry);
  }
  writer.close(start);
}
