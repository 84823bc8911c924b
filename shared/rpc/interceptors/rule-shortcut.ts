import { type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf';
import { type FieldRules, field as fieldOption, message as messageOption } from '../../gen/buf/validate/validate_pb.ts';

/** Whether a value plainly keeps its rules. False decides nothing: protovalidate then judges. */
type Check = (value: unknown) => boolean;

/**
 * Compiles the simple `buf.validate` rules of a message into one fast check, which is true for a message
 * that keeps them all. protovalidate interprets each rule for each message, and that takes longer than
 * the rest of a short call; nearly all messages are valid, and most rules are a comparison.
 *
 * @returns undefined when the message has other rules: only protovalidate can judge it.
 */
export function compileRuleShortcut(schema: DescMessage): ((message: object) => boolean) | undefined {
  // Protobuf's own messages have no rules, and some contain themselves.
  if (schema.file.proto.package === 'google.protobuf') return () => true;
  if (hasOption(schema, messageOption)) return undefined;
  const checks: [name: string, check: Check][] = [];
  for (const field of schema.fields) {
    const check = compileField(field);
    if (check === undefined) return undefined;
    if (check !== anything) checks.push([field.localName, check]);
  }
  return (message) => checks.every(([name, check]) => check(Reflect.get(message, name)));
}

const anything: Check = () => true;

function compileField(field: DescField): Check | undefined {
  const rules = hasOption(field, fieldOption) ? getOption(field, fieldOption) : undefined;
  const isPlain = field.oneof === undefined && (rules === undefined || rules.cel.length === 0);
  if (!isPlain || field.fieldKind === 'map')
    return rules === undefined && field.fieldKind === 'map' ? anything : undefined;
  if (field.fieldKind === 'list') return compileList(field, rules);
  const check = field.fieldKind === 'message' ? compileMessage(field.message) : compileScalar(rules);
  if (check === undefined) return undefined;
  // Rules do not apply to a field that is not set.
  const isRequired = rules?.required === true;
  return check === anything && !isRequired ? anything : (value) => (value === undefined ? !isRequired : check(value));
}

function compileMessage(schema: DescMessage): Check | undefined {
  const keepsRules = compileRuleShortcut(schema);
  return keepsRules && ((value) => typeof value === 'object' && value !== null && keepsRules(value));
}

function compileList(field: DescField & { fieldKind: 'list' }, rules: FieldRules | undefined): Check | undefined {
  const kind = rules?.type;
  if (rules?.required || (kind?.case !== undefined && kind.case !== 'repeated')) return undefined;
  const min = Number(kind?.case === 'repeated' ? kind.value.minItems : 0n);
  const max = (kind?.case === 'repeated' && Number(kind.value.maxItems)) || Number.POSITIVE_INFINITY;
  const itemRules = kind?.case === 'repeated' ? kind.value.items : undefined;
  if (itemRules !== undefined && (itemRules.cel.length > 0 || itemRules.required)) return undefined;
  const item = field.listKind === 'message' ? compileMessage(field.message) : compileScalar(itemRules);
  if (item === undefined) return undefined;
  return (value) => Array.isArray(value) && value.length >= min && value.length <= max && value.every(item);
}

function compileScalar(rules: FieldRules | undefined): Check | undefined {
  const kind = rules?.type;
  switch (kind?.case) {
    case undefined:
      return anything;
    case 'string': {
      const { minLen, maxLen, notContains } = kind.value;
      const [min, max] = [Number(minLen), maxLen === 0n ? Number.POSITIVE_INFINITY : Number(maxLen)];
      // The rules count code points. A string has at most as many of them as UTF-16 units, and at least half.
      return (value) =>
        typeof value === 'string' &&
        (value.length <= max || (value.length <= max * 2 && [...value].length <= max)) &&
        (value.length >= min * 2 || (min === 1 && value.length === 1)) &&
        (notContains === '' || !value.includes(notContains));
    }
    case 'int32':
    case 'double':
      return compileNumber(kind.value);
    default:
      return undefined;
  }
}

interface NumberRules {
  readonly greaterThan: { case: 'gt' | 'gte'; value: number } | { case: undefined };
  readonly lessThan?: { case: 'lt' | 'lte'; value: number } | { case: undefined };
  readonly finite?: boolean;
}

function compileNumber({ greaterThan, lessThan, finite }: NumberRules): Check {
  const min = greaterThan.case === 'gte' ? greaterThan.value : Number.NEGATIVE_INFINITY;
  const above = greaterThan.case === 'gt' ? greaterThan.value : undefined;
  const max = lessThan?.case === 'lte' ? lessThan.value : Number.POSITIVE_INFINITY;
  const below = lessThan?.case === 'lt' ? lessThan.value : undefined;
  return (value) =>
    typeof value === 'number' &&
    value >= min &&
    value <= max &&
    (above === undefined || value > above) &&
    (below === undefined || value < below) &&
    (finite !== true || Number.isFinite(value));
}
