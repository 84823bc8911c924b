import { create, type DescField, type DescMessage, fromBinary, fromJson, ScalarType, toJson } from '@bufbuild/protobuf';
import { StructSchema, TimestampSchema, timestampFromMs, ValueSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JsonText, mapped, timeText } from '../../shared/rpc/answers/answer.ts';
import { encoderOf, share } from '../../shared/rpc/answers/message-encoder.ts';
import { AnswerResponse, jsonWriteOptions } from '../../shared/rpc/answers/response.ts';
import { allServices } from '../support/all-services.ts';

/** A value as a handler gives it, and as a message has it. */
interface Both {
  readonly given: unknown;
  readonly kept: unknown;
}

const same = (values: fc.Arbitrary<unknown>) => values.map((value): Both => ({ given: value, kept: value }));

// Short and long texts, for lengths of one byte and of more, and what JSON escapes.
const snowmen = [42, 43, 127, 128].map((length) => '☃'.repeat(length));
const texts = fc.constantFrom('0', '', '"', '\\', '\u0000', '\u007f', ...snowmen);
const longTexts = fc.string({ unit: 'grapheme', minLength: 40 });

const scalars = new Map<ScalarType, fc.Arbitrary<Both>>([
  [ScalarType.INT32, same(fc.oneof(fc.integer(), fc.constantFrom(0, -1, 127, 128, 2 ** 31 - 1, -(2 ** 31))))],
  [ScalarType.INT64, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((kept) => ({ given: `${kept}`, kept }))],
  [ScalarType.DOUBLE, same(fc.double({ noDefaultInfinity: true, noNaN: true }).map((value) => value + 0))],
  [ScalarType.BOOL, same(fc.boolean())],
  [ScalarType.STRING, same(fc.oneof(texts, fc.string({ unit: 'binary' }), longTexts))],
]);

const times = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));
const wellKnown = new Map<string, fc.Arbitrary<Both>>([
  [
    TimestampSchema.typeName,
    fc.tuple(times, fc.boolean()).map(([time, isText]) => {
      const ms = time.getTime();
      return { given: isText ? timeText(ms) : ms, kept: timestampFromMs(ms) };
    }),
  ],
  [ValueSchema.typeName, json.map((value) => ({ given: value, kept: fromJson(ValueSchema, value) }))],
  [
    StructSchema.typeName,
    fc.dictionary(fc.string(), json).map((kept) => ({ given: new JsonText(JSON.stringify(kept)), kept })),
  ],
]);

function valuesOf(field: DescField): fc.Arbitrary<Both> {
  if (field.enum !== undefined) return same(fc.constantFrom(...field.enum.values.map(({ number }) => number)));
  if (field.message !== undefined) return wellKnown.get(field.message.typeName) ?? messagesOf(field.message);
  const values = scalars.get(field.scalar ?? ScalarType.BYTES);
  if (values === undefined) throw new Error(`no values for ${field.name}`);
  return values;
}

function fieldValuesOf(field: DescField): fc.Arbitrary<Both> {
  const values = valuesOf(field);
  if (field.fieldKind === 'list') {
    return fc.array(values, { maxLength: 4 }).map((items) => {
      const given = items.map((item) => item.given);
      const isMapped = field.message !== undefined && items.length % 2 === 0;
      return { given: isMapped ? mapped(given, (item) => item) : given, kept: items.map(({ kept }) => kept) };
    });
  }
  if (field.fieldKind !== 'map') return values;
  return fc.dictionary(fc.nat().map(String), values, { maxKeys: 3 }).map((items) => {
    const entries = Object.entries(items);
    return {
      given: new Map(entries.map(([key, { given }]) => [Number(key), given])),
      kept: Object.fromEntries(entries.map(([key, { kept }]) => [key, kept])),
    };
  });
}

/** Messages of a type. Some that have no lists of messages are shared. */
function messagesOf(schema: DescMessage): fc.Arbitrary<Both> {
  const isOptional = (field: DescField) => Reflect.get(create(schema), field.localName) === undefined;
  const fields = schema.fields.map((field) => [
    field.localName,
    isOptional(field) ? fc.option(fieldValuesOf(field), { nil: undefined }) : fieldValuesOf(field),
  ]);
  return fc.tuple(fc.record(Object.fromEntries(fields)), fc.boolean()).map(([values, isShared]) => {
    const part = (name: keyof Both) =>
      Object.fromEntries(Object.entries<Both | undefined>(values).map(([field, value]) => [field, value?.[name]]));
    const given = part('given');
    return {
      given: isShared && !encoderOf(schema).hasLists ? share(schema, given) : given,
      kept: create(schema, part('kept')),
    };
  });
}

const responses = allServices.flatMap(({ methods }) => methods.map(({ output }) => output));

it.each(responses)('An answer of the type $typeName is encoded like its message, in both forms', async (schema) => {
  const wrapped = fc.record(Object.fromEntries(schema.fields.map((field) => [field.localName, fieldValuesOf(field)])));
  await fc.assert(
    fc.asyncProperty(wrapped, async (values) => {
      const part = (name: keyof Both) =>
        Object.fromEntries(Object.entries<Both>(values).map(([field, value]) => [field, value[name]]));
      const answer = new AnswerResponse(schema, part('given'));
      const message = create(schema, part('kept'));
      expect(fromBinary(schema, await answer.toBinary(undefined))).toEqual(message);
      expect(JSON.parse(String(await answer.toJson(undefined)))).toEqual(toJson(schema, message, jsonWriteOptions));
      expect(await answer.toMessage(undefined)).toEqual(message);
    }),
    { numRuns: 30 },
  );
});
