import type { JsonValue } from '@bufbuild/protobuf';
import type { AuditEntry } from '#gen/audit/v1/audit_service_pb';
import { difference } from '../forms/difference.tsx';
import { describeStateName } from '../redemptions/holds.tsx';
import { words } from '../words.ts';

/** A field that a change altered. A value is undefined if the field did not have one then. */
export type ChangedField = ReturnType<typeof changedFields>[number];

const text = words.activity;
const labels: Readonly<Record<string, string>> = text.fields;
// There, 0 stands for none.
const limits: readonly string[] = ['maxValue', 'maxLimitForUser', 'maxUses'];
const blanks: readonly string[] = ['null', 'false', '""', '[]', '{}'];

/** Returns the fields that an entry's change altered, in the order of their labels. For a new record, omits blank fields. */
export function changedFields({ before, after }: Pick<AuditEntry, 'before' | 'after'>) {
  const values = { ...before, ...after };
  const isNew = before === undefined;
  return Object.keys({ ...labels, ...values })
    .filter((name) => name in values && !(isNew && blanks.includes(JSON.stringify(values[name]))))
    .map((name) => ({ name, label: labels[name] ?? name, before: before?.[name], after: after?.[name], isNew }));
}

/** Describes a field's value in a few words; undefined for lists and objects. */
export function describeValue(name: string, value: JsonValue, formatTime: (at: Date) => string) {
  if (value === null || value === '') return '–';
  if (typeof value === 'boolean') return value ? text.yes : text.no;
  if (typeof value === 'object') return undefined;
  if (limits.includes(name) && Number(value) === 0) return text.noLimit;
  if (name === 'state') return describeStateName(String(value));
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(value)) ? formatTime(new Date(String(value))) : String(value);
}

/** Returns the ids that a change added to a field and removed from it; undefined if the field holds something else. */
export function idsChanged({ before, after }: ChangedField) {
  if (Array.isArray(before) || Array.isArray(after)) {
    const [had, has] = [idsIn(before ?? []), idsIn(after ?? [])];
    return had && has && difference(had, has);
  }
  // A long list has only its changes.
  if (typeof after !== 'object' || after === null || Object.keys(after).sort().join() !== 'added,removed')
    return undefined;
  const [added, removed] = [idsIn(after.added), idsIn(after.removed)];
  return added && removed && { added, removed };
}

function idsIn(value: JsonValue | undefined): readonly number[] | undefined {
  return Array.isArray(value) && value.every((id) => typeof id === 'number') ? value : undefined;
}
