import { type DescMessage, type Message, toBinary } from '@bufbuild/protobuf';
import { pathToString } from '@bufbuild/protobuf/reflect';
import { createValidator, type Violation } from '@bufbuild/protovalidate';
import { invalidRequest } from '../../errors/errors.ts';
import { readKey } from '../idempotency/key.ts';
import type { Interceptor } from '../implementation.ts';
import { isMutation } from '../procedure.ts';
import { compileIdSets } from './id-sets.ts';

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
 * Returns the message of a violation. A CEL rule has a full sentence; a standard rule needs its field's name in front.
 */
function describe({ field, rule, message }: Violation): string {
  const [kind] = rule;
  const isSentence = field.length === 0 || (kind?.kind === 'field' && kind.name === 'cel');
  return isSentence ? message : `${pathToString(field)}: ${message}`;
}
