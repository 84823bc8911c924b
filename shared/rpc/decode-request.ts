import {
  create,
  type DescField,
  type DescMessage,
  type DescMethod,
  fromBinary,
  fromJsonString,
  type JsonValue,
  type Message,
  mergeFromJson,
} from '@bufbuild/protobuf';
import { invalidRequest } from '../errors/errors.ts';
import type { Codec } from './answers/response.ts';
import { checkMessageBounds } from './limits/message-bounds.ts';

/** A problem with one field of a JSON request. `field` is its path. */
export interface JsonViolation {
  readonly field: string;
  readonly description: string;
}

const maxViolations = 20;
/** Examining all of 100,000 values one by one would block other calls. */
const maxExamined = 2_000;
// A field's name in a request may be megabytes long.
const maxShown = 100;

/**
 * Explains why JSON could not be decoded as a message: lists each unknown field and each value of the wrong type. Only
 * requests that fail to decode pay for it.
 *
 * @returns at most 20 violations among the first 2,000 values; none if the text as a whole is at
 * fault, as when it is not JSON.
 */
export function findViolations(schema: DescMessage, text: string): JsonViolation[] {
  const found: JsonViolation[] = [];
  let examined = 0;
  for (const { field, description } of violationsOf(schema, parse(text), '')) {
    if (description !== undefined) found.push({ field: field.toWellFormed(), description: description.toWellFormed() });
    examined += 1;
    if (found.length === maxViolations || examined === maxExamined) break;
  }
  return found;
}

/** Parses JSON. Text that is not JSON becomes an empty object, which has no violations. */
function parse(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** An examined value. Without a description, it is valid. */
type Examined = Pick<JsonViolation, 'field'> & Partial<JsonViolation>;

function* violationsOf(schema: DescMessage, json: JsonValue, at: string): Generator<Examined> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    if (at === '') return;
    const [only, ...others] = schema.fields;
    const form =
      only?.fieldKind === 'list' && others.length === 0 ? `must have the form {"${only.jsonName}":[1,2]}` : '';
    yield { field: at, description: form || 'is not an object' };
    return;
  }
  for (const [key, value] of Object.entries(json)) {
    const field = schema.fields.find(({ jsonName, name }) => jsonName === key || name === key);
    const place = `${at}${at && '.'}${key.slice(0, maxShown)}`;
    if (field === undefined) yield { field: place, description: 'is not a field' };
    else yield* violationsOfField(field, value, place);
  }
}

function* violationsOfField(field: DescField, value: JsonValue, at: string): Generator<Examined> {
  const inner = isOwn(field) ? field.message : undefined;
  if (inner !== undefined && field.fieldKind === 'list' && Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* violationsOf(inner, item, `${at}[${index}]`);
  } else if (inner !== undefined && field.fieldKind === 'message' && value !== null) {
    yield* violationsOf(inner, value, at);
  } else {
    const description = problemOf(field, value);
    yield description === undefined ? { field: at } : { field: at, description };
  }
}

/** Returns the decoder's complaint about one value; undefined if it accepts the value. */
function problemOf(field: DescField, value: JsonValue): string | undefined {
  try {
    mergeFromJson(field.parent, create(field.parent), { [field.jsonName]: value });
    return undefined;
  } catch (error) {
    return String(error)
      .replace(/^.*? from JSON:? /, '')
      .slice(0, maxShown);
  }
}

/** Whether a field holds one of our messages. Protobuf's own types have special JSON forms. */
const isOwn = ({ message }: DescField) => message !== undefined && message.file.proto.package !== 'google.protobuf';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Decodes the message of a request. Throws as `checkMessageBounds` does, and INVALID_ARGUMENT for what can't be
 * decoded, of JSON with the fields at fault. Refuses unknown fields in JSON (design 7).
 */
export function decodeRequest({ input }: DescMethod, codec: Codec, bytes: Uint8Array): Message {
  checkMessageBounds(codec, input, bytes);
  let text = '';
  try {
    if (codec === 'proto') return fromBinary(input, bytes);
    text = utf8.decode(bytes);
    return fromJsonString(input, text);
  } catch (cause) {
    if (codec === 'proto') throw invalidRequest(`The request is no ${input.typeName}`, { cause });
    const violations = findViolations(input, text);
    const [first] = violations;
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw invalidRequest(first === undefined ? problem : `${first.field}: ${first.description}`, { violations, cause });
  }
}
