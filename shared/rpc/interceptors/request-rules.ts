import { type DescMessage, type Message, toBinary } from '@bufbuild/protobuf';
import { pathToString } from '@bufbuild/protobuf/reflect';
import { createValidator, type Violation } from '@bufbuild/protovalidate';
import { invalidRequest } from '../../errors/errors.ts';
import { compilePlainRules } from './plain-rules.ts';

const firstViolation = createValidator({ failFast: true });
const allViolations = createValidator();

// A request up to this size gets all its violations reported, a larger one only the first: it may have
// millions, and the report has to fit into the headers that any gRPC client accepts.
const fullReportBytes = 16 * 1024;
const maxViolations = 20;

/**
 * Compiles the check of requests against the `buf.validate` rules of their .proto file. It throws
 * INVALID_ARGUMENT with the violations; its message is that of the first.
 */
export function compileRules(schema: DescMessage): (message: Message) => void {
  const isPlainlyValid = compilePlainRules(schema);
  return (message) => {
    if (!isPlainlyValid(message)) validate(schema, message);
  };
}

function validate(schema: DescMessage, message: Message): void {
  const found = firstViolation.validate(schema, message);
  if (found.kind === 'valid') return;
  const isSmall = toBinary(schema, message).byteLength <= fullReportBytes;
  const result = isSmall ? allViolations.validate(schema, message) : found;
  if (result.kind === 'valid') return;
  if (result.kind === 'error') throw result.error;
  const violations = result.violations.slice(0, maxViolations).map((violation) => ({
    field: pathToString(violation.field),
    description: violation.message,
  }));
  const [first] = result.violations;
  throw invalidRequest(first === undefined ? 'The request is invalid' : describe(first), { violations });
}

/** The message of a violation. A CEL rule has a full sentence; a standard rule needs the name of its field. */
function describe({ field, rule, message }: Violation): string {
  const [kind] = rule;
  const isSentence = field.length === 0 || (kind?.kind === 'field' && kind.name === 'cel');
  return isSentence ? message : `${pathToString(field)}: ${message}`;
}
