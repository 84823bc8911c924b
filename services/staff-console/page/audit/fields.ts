import type { JsonValue } from '@bufbuild/protobuf';
import type { AuditEntry } from '#gen/audit/v1/audit_service_pb';
import { describeStateName } from '../redemptions/holds.tsx';
import { words } from '../words.ts';

/** A field that a change altered. */
export interface ChangedField {
  readonly name: string;
  readonly label: string;
  /** Undefined if the field had no value. */
  readonly before: JsonValue | undefined;
  /** Undefined if the field no longer has a value. */
  readonly after: JsonValue | undefined;
}

const text = words.activity;
const labels: Readonly<Record<string, string>> = text.fields;
const order = Object.keys(labels);

/** Fields that hold ids. */
export const idFields: ReadonlySet<string> = new Set([
  'productIds',
  'applicableProducts',
  'groupIds',
  'applicableUsers',
]);

const timeFields: ReadonlySet<string> = new Set([
  'deliveryTime',
  'freezeTime',
  'startsAt',
  'validTill',
  'heldUntil',
  'usedAt',
  'bookedAt',
  'releasedAt',
  'createdAt',
  'missingSince',
]);

/** Fields where 0 stands for none. */
const limits: ReadonlySet<string> = new Set(['maxValue', 'maxLimitForUser', 'maxUses']);

/** Returns the fields that an entry's change altered. For a new record, omits blank fields. */
export function changedFields({ before, after }: Pick<AuditEntry, 'before' | 'after'>): ChangedField[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const fields = names.map((name) => ({
    name,
    label: labels[name] ?? name,
    before: before?.[name],
    after: after?.[name],
  }));
  const place = ({ name }: ChangedField) => (order.includes(name) ? order.indexOf(name) : order.length);
  const shown = before === undefined ? fields.filter(({ after }) => !isBlank(after)) : fields;
  return shown.sort((a, b) => place(a) - place(b));
}

/** Describes a field's value in a few words; undefined for lists and objects. */
export function describeValue(name: string, value: JsonValue | undefined, formatTime: (at: Date) => string) {
  if (value === undefined || value === null || value === '') return '–';
  if (typeof value === 'boolean') return value ? text.yes : text.no;
  if (typeof value === 'object') return undefined;
  if (limits.has(name) && Number(value) === 0) return text.noLimit;
  if (name === 'state') return describeStateName(String(value));
  const time = timeFields.has(name) ? new Date(String(value)) : undefined;
  return time === undefined || Number.isNaN(time.getTime()) ? String(value) : formatTime(time);
}

/** Returns the ids that a change of a long list added and removed; undefined if the field holds something else. */
export function idsChanged(value: JsonValue | undefined) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const [added, removed] = [idsIn(value.added), idsIn(value.removed)];
  const isChange = Object.keys(value).sort().join() === 'added,removed';
  return isChange && added !== undefined && removed !== undefined ? { added, removed } : undefined;
}

/** Returns the ids in a field's list: none if it has no value, undefined if it holds something else. */
export function idsIn(value: JsonValue | undefined): readonly number[] | undefined {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return undefined;
  const ids = value.filter((id) => typeof id === 'number');
  return ids.length === value.length ? ids : undefined;
}

function isBlank(value: JsonValue | undefined): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === false || value === '';
}
