import { type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { type FieldRules, field as fieldOption, message as messageOption } from '../../gen/buf/validate/validate_pb.ts';

/** Whether a value plainly keeps its rules. False decides nothing: protovalidate does then. */
type Check = (value: unknown) => boolean;

const always: Check = () => true;
const unsure: Check = () => false;

/**
 * Compiles the `buf.validate` rules of a message that are mere comparisons. protovalidate interprets
 * every rule for every message, but nearly all messages are valid, and nearly all rules are comparisons
 * (docs/performance.md has the figures).
 */
export function compilePlainRules(schema: DescMessage): Check {
  // The types of protobuf itself have no rules, and contain one another.
  if (schema.file.proto.package === 'google.protobuf') return always;
  if (hasOption(schema, messageOption)) return unsure;
  const checks = schema.fields
    .map((field) => ({ name: field.localName, check: compileField(field) }))
    .filter(({ check }) => check !== always);
  return (message) => message instanceof Object && checks.every(({ name, check }) => check(Reflect.get(message, name)));
}

function compileField(field: DescField): Check {
  const rules = hasOption(field, fieldOption) ? getOption(field, fieldOption) : undefined;
  const isRequired = rules?.required === true;
  // Whether such a field is set is not told by its value alone.
  if (field.oneof !== undefined || (isRequired && field.presence === FeatureSet_FieldPresence.IMPLICIT)) return unsure;
  const check = compileValue(field, rules);
  return check === always && !isRequired ? always : (value) => (value === undefined ? !isRequired : check(value));
}

function compileValue(field: DescField, rules: FieldRules | undefined): Check {
  if (field.fieldKind === 'map' || (rules !== undefined && rules.cel.length > 0)) return unsure;
  if (field.fieldKind === 'message') return compilePlainRules(field.message);
  if (field.fieldKind !== 'list') return compileScalar(rules);
  const list = rules?.type.case === 'repeated' ? rules.type.value : undefined;
  const [min, max] = boundsOf(list?.minItems, list?.maxItems);
  const item = field.listKind === 'message' ? compilePlainRules(field.message) : compileScalar(list?.items);
  return (value) => Array.isArray(value) && value.length >= min && value.length <= max && value.every(item);
}

function compileScalar(rules: FieldRules | undefined): Check {
  if (rules === undefined) return always;
  if (rules.cel.length > 0) return unsure;
  switch (rules.type.case) {
    case undefined:
      return always;
    case 'string': {
      const { minLen, maxLen, notContains } = rules.type.value;
      const [min, max] = boundsOf(minLen, maxLen);
      // The rules count code points: a text has at most as many as its length, and at least half.
      const minLength = min <= 1 ? min : min * 2;
      return (value) =>
        typeof value === 'string' &&
        value.length >= minLength &&
        value.length <= max &&
        (notContains === '' || !value.includes(notContains));
    }
    case 'double': {
      const { greaterThan, finite } = rules.type.value;
      const min = greaterThan.case === 'gte' ? greaterThan.value : Number.NEGATIVE_INFINITY;
      return (value) => typeof value === 'number' && value >= min && (!finite || Number.isFinite(value));
    }
    case 'int32': {
      const { greaterThan, lessThan } = rules.type.value;
      const min =
        greaterThan.value === undefined
          ? Number.NEGATIVE_INFINITY
          : greaterThan.value + Number(greaterThan.case === 'gt');
      const max =
        lessThan.value === undefined ? Number.POSITIVE_INFINITY : lessThan.value - Number(lessThan.case === 'lt');
      return (value) => typeof value === 'number' && value >= min && value <= max;
    }
    default:
      return unsure;
  }
}

/** The bounds of a length; 0 is no upper bound. */
function boundsOf(min = 0n, max = 0n): [min: number, max: number] {
  return [Number(min), Number(max) || Number.POSITIVE_INFINITY];
}
