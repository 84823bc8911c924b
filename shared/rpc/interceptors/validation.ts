import {
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  type Message,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { pathToString } from '@bufbuild/protobuf/reflect';
import { createValidator, type Violation } from '@bufbuild/protovalidate';
import { invalidRequest } from '../../errors/errors.ts';
import { field as fieldOption } from '../../gen/buf/validate/validate_pb.ts';
import { readKey } from '../idempotency/key.ts';
import type { Interceptor } from '../implementation.ts';
import { isMutation } from '../procedure.ts';

/** Deduplicates the id lists, then validates the request against its .proto file and reads the idempotency key. */
export const validation: Interceptor = function validation({ method }, next) {
  const deduplicateIds = compileIdSets(method.input);
  const mayHaveKey = isMutation(method);
  return async (call) => {
    deduplicateIds?.(call.request);
    checkRules(method.input, call.request);
    if (mayHaveKey) readKey(call); // throws for a malformed key
    return next(call);
  };
};

const firstViolation = createValidator({ failFast: true });
const allViolations = createValidator();

// All violations of a request up to this size are reported, but only the first one of a larger request: there may be
// millions, and the report must fit into the headers that any gRPC client accepts.
const fullReportBytes = 16 * 1024;
const maxViolations = 20;

/**
 * Validates a request against the `buf.validate` rules of its .proto file. Throws INVALID_ARGUMENT with the violations
 * and the message of the first one.
 */
export function checkRules(schema: DescMessage, message: Message): void {
  const found = firstViolation.validate(schema, message);
  if (found.kind === 'valid') return;
  const isSmall = toBinary(schema, message).byteLength <= fullReportBytes;
  const result = isSmall ? allViolations.validate(schema, message) : found;
  if (result.kind === 'valid') return;
  if (result.kind === 'error') throw result.error;
  const violations = result.violations
    .slice(0, maxViolations)
    .map((violation) => ({ field: pathToString(violation.field), description: violation.message }));
  const [first] = result.violations;
  throw invalidRequest(first === undefined ? 'The request is invalid' : describe(first), { violations });
}

/**
 * Returns the message of a violation, with its field's name in front unless it is a full sentence.
 */
function describe({ field, message }: Violation): string {
  const isSentence = field.length === 0 || /^[A-Z]/.test(message);
  return isSentence ? message : `${pathToString(field)}: ${message}`;
}

/** Deduplicates the id lists of a decoded message, in place. */
type Deduplicate = (message: object) => void;

/**
 * Compiles the step that deduplicates a request's id lists before any other processing (design 7). The cost of a call
 * then depends on the number of distinct ids, not on repetitions. Every list of int32 is an id list. A list that is too
 * long keeps one id more than its `max_items`, so that validation rejects it.
 *
 * @returns undefined for a message without such a list.
 */
export function compileIdSets(schema: DescMessage): Deduplicate | undefined {
  if (schema.file.proto.package === 'google.protobuf') return undefined;
  const steps = schema.fields.flatMap((field) => compileField(field) ?? []);
  if (steps.length === 0) return undefined;
  return (message) => {
    for (const deduplicate of steps) deduplicate(message);
  };
}

function compileField(field: DescField): Deduplicate | undefined {
  const { localName } = field;
  if (field.fieldKind === 'list' && field.listKind === 'scalar' && field.scalar === ScalarType.INT32) {
    const maxIds = maxItemsOf(field);
    return (message) => {
      const ids: unknown = Reflect.get(message, localName);
      if (Array.isArray(ids) && ids.length > 1) Reflect.set(message, localName, distinct(ids, maxIds));
    };
  }
  if (field.message === undefined || field.fieldKind === 'map') return undefined;
  const deduplicate = compileIdSets(field.message);
  return (
    deduplicate &&
    ((message) => {
      const inner: unknown = Reflect.get(message, localName);
      for (const each of Array.isArray(inner) ? inner : [inner]) if (each !== undefined) deduplicate(each);
    })
  );
}

/** Returns the distinct ids in order, at most one more than `maxIds`. */
function distinct(ids: readonly unknown[], maxIds: number): unknown[] {
  const set = new Set<unknown>();
  for (const id of ids) {
    set.add(id);
    if (set.size > maxIds) break;
  }
  return [...set];
}

function maxItemsOf(field: DescField): number {
  const rules = hasOption(field, fieldOption) ? getOption(field, fieldOption).type : undefined;
  return (rules?.case === 'repeated' && Number(rules.value.maxItems)) || Number.POSITIVE_INFINITY;
}
