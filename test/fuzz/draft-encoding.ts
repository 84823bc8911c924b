import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Draft, DraftValue } from './drafts.ts';
import type { Random } from './random.ts';

/** A draft in protobuf's wire format, sometimes with unknown fields. */
export function toWire(draft: Draft, random: Random, oddity: number): Buffer {
  const parts: Buffer[] = draft.flatMap(({ field, values }) =>
    values.map((value): Buffer => {
      const [type, content] = wireValue(value, random, oddity);
      return Buffer.concat([varint(BigInt((field.number << 3) | type)), content]);
    }),
  );
  // A decoder merges a field that occurs twice, or takes the last one.
  if (random.chance(oddity * 0.3)) parts.push(...parts.slice(0, 2));
  if (random.chance(oddity)) parts.push(unknownField(random));
  if (random.chance(oddity * 0.3)) parts.reverse();
  return Buffer.concat(parts);
}

function wireValue(value: DraftValue, random: Random, oddity: number): [type: number, content: Buffer] {
  switch (value.kind) {
    case 'int':
      return [0, varint(value.value)];
    case 'bool':
      return [0, varint(value.value ? 1n : 0n)];
    case 'double': {
      const content = Buffer.alloc(8);
      content.writeDoubleLE(value.value);
      return [1, content];
    }
    case 'text':
      return [2, delimited(Buffer.from(value.value))];
    case 'json':
      return [2, delimited(wireJson(value.value, random))];
    case 'message':
      return [2, delimited(toWire(value.draft, random, oddity))];
  }
}

function wireJson(value: JsonValue, random: Random): Buffer {
  try {
    return Buffer.from(toBinary(ValueSchema, fromJson(ValueSchema, value)));
  } catch {
    // Bytes that protobuf-es does not write, such as a lone surrogate.
    return random.bytes(random.int(0, 30));
  }
}

function unknownField(random: Random): Buffer {
  const number = random.pick([0n, 16n, 99n, 1_000n, 536_870_911n, 536_870_912n]);
  const type = BigInt(random.int(0, 7));
  return Buffer.concat([varint((number << 3n) | type), random.bytes(random.int(0, 12))]);
}

const delimited = (content: Buffer) => Buffer.concat([varint(BigInt(content.byteLength)), content]);

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

/** A draft in protobuf's JSON form, sometimes with values that only JSON has. */
export function toJsonText(draft: Draft, random: Random, oddity: number): string {
  const fields = draft.map(({ field, values }) => {
    const texts = values.map((value) => jsonValue(value, random, oddity));
    const name = random.chance(0.9) ? field.jsonName : field.name;
    const isList = field.fieldKind === 'list' || random.chance(oddity * 0.05);
    return `${JSON.stringify(name)}:${isList ? `[${texts.join()}]` : texts.at(-1)}`;
  });
  if (random.chance(oddity * 0.2)) fields.push(...fields.slice(0, 1));
  if (random.chance(oddity))
    fields.push(random.pick(['"nonsense":{"a":[1]}', '"__proto__":{"id":1}', '"":null', '"id":null']));
  return `{${fields.join()}}`;
}

function jsonValue(value: DraftValue, random: Random, oddity: number): string {
  if (random.chance(oddity * 0.1))
    return random.pick(['null', '{}', '[]', '""', '-0', '1e400', '"NaN"', '1.5', 'true', '[[[]]]']);
  switch (value.kind) {
    case 'int':
      return random.chance(oddity * 0.3)
        ? random.pick([
            `"${value.value}"`,
            `${value.value}.0`,
            `${value.value}e0`,
            `"0${value.value}"`,
            `0${value.value}`,
          ])
        : String(value.value);
    case 'double':
      return Number.isFinite(value.value) ? String(value.value) : `"${value.value}"`;
    case 'message':
      return toJsonText(value.draft, random, oddity);
    case 'bool':
    case 'text':
    case 'json':
      return JSON.stringify(value.value);
  }
}
