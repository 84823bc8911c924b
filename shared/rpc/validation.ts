import type { DescMessage, Message } from '@bufbuild/protobuf';
import { pathToString } from '@bufbuild/protobuf/reflect';
import { createValidator, type Violation } from '@bufbuild/protovalidate';
import { commonErrors, fail } from './errors.ts';

const validator = createValidator();

/**
 * Checks a request against the `buf.validate` rules of its .proto file. Throws INVALID_ARGUMENT
 * with every field at fault; its message is that of the first.
 */
export function validate(schema: DescMessage, message: Message): void {
  const result = validator.validate(schema, message);
  if (result.kind === 'valid') return;
  if (result.kind === 'error') throw result.error;
  const violations = result.violations.map((violation) => ({
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
