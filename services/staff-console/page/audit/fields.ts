import type { JsonValue } from '@bufbuild/protobuf';
import type { AuditEntry } from '#gen/audit/v1/audit_service_pb';
import { formatAmount } from '../business/money.ts';
import { describeStateName } from '../redemptions/state.ts';
import { words } from '../words.ts';

/** A field that a change altered. A value is undefined if the field did not have one then. */
export type ChangedField = ReturnType<typeof changedFields>[number];

const labels: Readonly<Record<string, string>> = words.fields;
// There, 0 stands for none.
const limits: readonly string[] = ['maxValue', 'maxLimitForUser', 'maxUses'];
const amounts: readonly string[] = [
  'flatDiscount',
  'minOrder',
  'maxValue',
  'orderAmount',
  'discountAmount',
  'totalAmount',
];
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
export function describeValue(name: string, value: JsonValue | undefined, formatTime: (at: Date) => string) {
  if (value === undefined || value === null || value === '') return '–';
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  if (typeof value === 'object') return undefined;
  if (limits.includes(name) && Number(value) === 0) return words.noLimit;
  if (amounts.includes(name)) return formatAmount(String(value));
  if (name === 'state') return describeStateName(String(value));
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(value)) ? formatTime(new Date(String(value))) : String(value);
}
