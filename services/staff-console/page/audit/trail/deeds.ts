import type { AuditEntry } from '#gen/audit/v1/audit_service_pb';
import { words } from '../../words.ts';

const { variants } = words.activity;
const kinds: Readonly<Record<string, string>> = words.activity.kinds;
const deeds: Readonly<Record<string, readonly [general: string, ofRecord: string]>> = words.activity.deeds;

/** A kind of record that has an audit trail, by its name in the contract (design 10). */
export type Kind = keyof typeof words.activity.kinds;

/** Names a kind of record. */
export const nameOfKind = (resourceType: string) => kinds[resourceType] ?? resourceType;

/** Names a record, such as "slot 25". There is only one database. */
export function nameOfRecord({ resourceType, resourceId }: AuditEntry): string {
  const kind = nameOfKind(resourceType);
  return resourceType === 'database' ? kind : `${kind} ${resourceId}`;
}

/** The procedures that change records. */
export const mutations: readonly string[] = Object.keys(deeds).filter((procedure) => procedure !== 'recovered');

/** Describes a procedure in general, such as "Created a slot". */
export const describeMutation = (procedure: string) => deeds[procedure]?.[0] ?? procedure;

/** Describes what was done to a record, such as "marked % full". The record's name replaces the %. */
export const describeDeed = (entry: AuditEntry) =>
  describeVariant(entry) ?? deeds[entry.procedure]?.[1] ?? variants.changed;

/** Describes what was done by a procedure that does several things; undefined for what it usually does. */
function describeVariant({ procedure, resourceType, before, after }: AuditEntry): string | undefined {
  const name = procedure.slice(procedure.lastIndexOf('/') + 1);
  const only = Object.keys(after ?? {}).length === 1 ? after : undefined;
  if (procedure.startsWith('catalog.')) return before && variants.imported;
  if (name === 'UpdateSlotCapacity') return after?.isCapacityFull === true ? undefined : variants.reopened;
  if (name === 'UpdateSlots') {
    if (after?.capacity !== undefined) return variants.capacity;
    if (before?.capacity !== undefined) return variants.noCapacity;
    if (after?.isActive !== undefined) return after.isActive === true ? variants.activated : variants.deactivated;
    return after?.isCapacityFull === true ? variants.full : variants.reopened;
  }
  if (name === 'Book')
    return after?.state === 'SLOT_BOOKING_STATE_BOOKED' ? variants.booked : before && variants.changed;
  if (name === 'CreateCoupon' && resourceType === 'user') return variants.registered;
  if (name === 'Redeem') return after?.state === 'REDEMPTION_STATE_USED' ? variants.used : before && variants.heldAgain;
  if (name === 'Claim' && resourceType === 'coupon') return variants.fromReserved;
  if (name === 'Update' && only?.isInvalidated === true) return variants.invalidated;
  if (name === 'Update' && only?.isInvalidated === false) return variants.restored;
  return undefined;
}
