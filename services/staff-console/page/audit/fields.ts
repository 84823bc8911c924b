import type { JsonValue } from '@bufbuild/protobuf';
import type { AuditEntry } from '../../../../shared/gen/audit/v1/audit_service_pb.ts';
import { describeStateName } from '../redemptions/state.ts';

/** A field that a change altered. */
export interface ChangedField {
  readonly name: string;
  readonly label: string;
  /** Undefined if the field had no value. */
  readonly before: JsonValue | undefined;
  /** Undefined if the field no longer has a value. */
  readonly after: JsonValue | undefined;
}

/** The labels of all records' fields, by their names in the API, in display order. */
const labels: Readonly<Record<string, string>> = {
  deliveryTime: 'Delivery',
  freezeTime: 'Orders close',
  isActive: 'Active',
  isCapacityFull: 'Full',
  capacity: 'Capacity',
  windowMinutes: 'Window in minutes',
  groupIds: 'Groups',
  externalId: 'External id',
  name: 'Name',
  email: 'Email',
  images: 'Images',
  isRetired: 'Retired',
  totalAmount: 'Total',
  orderStatus: 'Status',
  count: 'Coupons',
  couponId: 'Coupon',
  slotId: 'Slot',
  userId: 'User',
  orderKey: 'Order',
  units: 'Units',
  orderAmount: 'Order amount',
  discountAmount: 'Discount',
  state: 'State',
  heldUntil: 'Held until',
  usedAt: 'Used',
  bookedAt: 'Booked',
  releasedAt: 'Released',
  reason: 'Reason',
  couponCode: 'Coupon code',
  secretCode: 'Secret code',
  discountPercent: 'Discount in percent',
  flatDiscount: 'Discount as an amount',
  minOrder: 'Smallest order',
  maxValue: 'Largest discount',
  startsAt: 'Starts',
  validTill: 'Valid until',
  maxLimitForUser: 'Uses for each user',
  maxUses: 'Uses in all',
  isUserBased: 'Only for chosen users',
  isApplyForAll: 'For all users',
  exclusiveApply: 'Not with other coupons',
  isInvalidated: 'Invalidated',
  invalidated: 'Coupons invalidated',
  redeemedUser: 'Redeemed by',
  applicableUsers: 'Users',
  applicableProducts: 'Applicable products',
  productIds: 'Products',
  vendorSnippets: 'Vendor snippets',
  deliverySequence: 'Delivery sequence',
  mobile: 'Mobile number',
  createdBy: 'Created by',
  createdAt: 'Created',
  missingSince: 'Changes may be missing since',
};

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
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'object') return undefined;
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
