import { type DescField, type DescMessage, getOption, hasOption, ScalarType } from '@bufbuild/protobuf';
import { field as fieldOption } from '../../gen/buf/validate/validate_pb.ts';

/** Changes a decoded request in place. */
type TakeSets = (request: object) => void;

/**
 * Makes the step that takes a request's lists of ids as sets (design 7), before anything is done with
 * them: what a call costs then depends on the ids that it names, and not on how often. Lists of int32
 * are lists of ids. One that is too long is cut to one id more than its `max_items`, by which the
 * check of the request's rules knows it.
 *
 * @returns undefined for a request without such a list.
 */
export function compileIdSets(schema: DescMessage): TakeSets | undefined {
  if (schema.file.proto.package === 'google.protobuf') return undefined;
  const steps = schema.fields.flatMap((field) => compileField(field) ?? []);
  if (steps.length === 0) return undefined;
  return (request) => {
    for (const takeSets of steps) takeSets(request);
  };
}

function compileField(field: DescField): TakeSets | undefined {
  const { localName } = field;
  if (field.fieldKind === 'list' && field.listKind === 'scalar' && field.scalar === ScalarType.INT32) {
    const maxIds = maxItems(field);
    return (message) => {
      const ids: unknown = Reflect.get(message, localName);
      if (Array.isArray(ids) && ids.length > 1) Reflect.set(message, localName, distinct(ids, maxIds));
    };
  }
  if (field.message === undefined || field.fieldKind === 'map') return undefined;
  const takeSets = compileIdSets(field.message);
  return (
    takeSets &&
    ((message) => {
      const inner: unknown = Reflect.get(message, localName);
      for (const each of Array.isArray(inner) ? inner : [inner]) if (each !== undefined) takeSets(each);
    })
  );
}

/** The ids in their order, each once; one more than `most` at the most. */
function distinct(ids: readonly unknown[], most: number): unknown[] {
  const set = new Set<unknown>();
  for (const id of ids) {
    set.add(id);
    if (set.size > most) break;
  }
  return [...set];
}

function maxItems(field: DescField): number {
  const rules = hasOption(field, fieldOption) ? getOption(field, fieldOption).type : undefined;
  return (rules?.case === 'repeated' && Number(rules.value.maxItems)) || Number.POSITIVE_INFINITY;
}
