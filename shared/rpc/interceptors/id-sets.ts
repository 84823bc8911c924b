import { type DescField, type DescMessage, getOption, hasOption, ScalarType } from '@bufbuild/protobuf';
import { field as fieldOption } from '../../gen/buf/validate/validate_pb.ts';

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
