import { type DescEnum, type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { type FieldRules, field as fieldOption, message as messageOption } from '../../gen/buf/validate/validate_pb.ts';

/** Whether a value certainly satisfies its rules. False means undecided: protovalidate then decides. */
type Check = (value: unknown) => boolean;

const always: Check = () => true;
const unsure: Check = () => false;

/**
 * Compiles those `buf.validate` rules of a message that are plain comparisons. protovalidate interprets every
 * rule for every message, but nearly all messages are valid and nearly all rules are comparisons
 * (docs/performance.md has the figures).
 */
export function compilePlainRules(schema: DescMessage): Check {
  // Protobuf's own types have no rules, and are recursive.
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
  // The value alone does not tell whether such a field is set.
  if (field.oneof !== undefined || (isRequired && field.presence === FeatureSet_FieldPresence.IMPLICIT)) return unsure;
  const check = compileValue(field, rules);
  return check === always && !isRequired ? always : (value) => (value === undefined ? !isRequired : check(value));
}

function compileValue(field: DescField, rules: FieldRules | undefined): Check {
  if (field.fieldKind === 'map' || (rules !== undefined && rules.cel.length > 0)) return unsure;
  if (field.fieldKind === 'message') return compilePlainRules(field.message);
  if (field.fieldKind === 'enum') return compileEnum(field.enum, rules);
  if (field.fieldKind !== 'list') return compileScalar(rules);
  const list = rules?.type.case === 'repeated' ? rules.type.value : undefined;
  const [min, max] = boundsOf(list?.minItems, list?.maxItems);
  const item = compileItem(field, list?.items);
  return (value) => Array.isArray(value) && value.length >= min && value.length <= max && value.every(item);
}

function compileItem(field: DescField & { fieldKind: 'list' }, rules: FieldRules | undefined): Check {
  switch (field.listKind) {
    case 'message':
      return compilePlainRules(field.message);
    case 'enum':
      return compileEnum(field.enum, rules);
    case 'scalar':
      return compileScalar(rules);
  }
}

function compileEnum({ values }: DescEnum, rules: FieldRules | undefined): Check {
  if (rules === undefined) return always;
  if (rules.type.case !== 'enum' || !rules.type.value.definedOnly || rules.cel.length > 0) return unsure;
  const { notIn } = rules.type.value;
  const allowed = new Set<unknown>(values.map(({ number }) => number).filter((number) => !notIn.includes(number)));
  return (value) => allowed.has(value);
}

function compileScalar(rules: FieldRules | undefined): Check {
  if (rules === undefined) return always;
  if (rules.cel.length > 0) return unsure;
  switch (rules.type.case) {
    case undefined:
      return always;
    case 'string': {
      const { minLen, maxLen, notContains, pattern } = rules.type.value;
      const shape = new RegExp(pattern, 'u');
      const [min, max] = boundsOf(minLen, maxLen);
      // The rules count code points. A string has at most `length` of them, and at least half as many.
      const minLength = min <= 1 ? min : min * 2;
      return (value) =>
        typeof value === 'string' &&
        value.length >= minLength &&
        value.length <= max &&
        (notContains === '' || !value.includes(notContains)) &&
        shape.test(value);
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

/** Converts length bounds; an upper bound of 0 means none. */
function boundsOf(min = 0n, max = 0n): [min: number, max: number] {
  return [Number(min), Number(max) || Number.POSITIVE_INFINITY];
}
