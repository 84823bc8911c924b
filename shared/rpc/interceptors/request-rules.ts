import { type DescMessage, type Message, toBinary } from '@bufbuild/protobuf';
import { pathToString } from '@bufbuild/protobuf/reflect';
import { createValidator, type Violation } from '@bufbuild/protovalidate';
import { commonErrors, fail } from '../../errors/errors.ts';
import { compileRuleShortcut } from './rule-shortcut.ts';

const firstViolation = createValidator({ failFast: true });
const allViolations = createValidator();

// A small request is told of everything that is wrong with it. In a large one there may be millions
// of things, and the answer has to fit into the headers of any gRPC client.
const smallRequestBytes = 16 * 1024;
const maxViolations = 20;

/**
 * Makes the check of requests against the `buf.validate` rules of their .proto file. It throws
 * INVALID_ARGUMENT with the fields at fault; its message is that of the first.
 */
export function createRequestCheck(schema: DescMessage): (message: Message) => void {
  const plainlyKeepsRules = compileRuleShortcut(schema);
  return (message) => {
    if (!plainlyKeepsRules?.(message)) validate(schema, message);
  };
}

function validate(schema: DescMessage, message: Message): void {
  const found = firstViolation.validate(schema, message);
  if (found.kind === 'valid') return;
  const isSmall = toBinary(schema, message).byteLength <= smallRequestBytes;
  const result = isSmall ? allViolations.validate(schema, message) : found;
  if (result.kind === 'valid') return;
  if (result.kind === 'error') throw result.error;
  const violations = result.violations.slice(0, maxViolations).map((violation) => ({
    field: pathToString(violation.field),
    description: violation.message,
  }));
  const [first] = result.violations;
  throw fail(commonErrors.invalidRequest, {
    params: { problem: first === undefined ? 'The request is invalid' : describe(first) },
    violations,
  });
}

/** A rule in CEL has a sentence of its own; a standard rule's message needs its field's name. */
function describe({ field, rule, message }: Violation): string {
  const [kind] = rule;
  const ownSentence = field.length === 0 || (kind?.kind === 'field' && kind.name === 'cel');
  return ownSentence ? message : `${pathToString(field)}: ${message}`;
}
