import { isInt32 } from '../db/int32.ts';
import type { CallContext } from '../rpc/call-context.ts';
import { procedureName } from '../rpc/procedure-path.ts';

/** The types of the records that the audit trail accounts for (design 10). */
export type ResourceType = 'slot' | 'coupon' | 'reserved_coupon' | 'user';

/** The parameter of statements with an `auditEntry`. */
export interface Actor {
  /** Who makes the change, as JSON. */
  readonly actor: string;
}

/** The caller of a call, as the one who makes its changes. */
export function actorOf(call: CallContext): Actor {
  const { subject, claimedStaffId } = call.identity;
  const staffId = claimedStaffId !== undefined && isInt32(claimedStaffId) ? claimedStaffId : null;
  const { requestId } = call;
  return { actor: JSON.stringify({ procedure: procedureName(call.method), subject, staffId, requestId }) };
}

/**
 * SQL of a common table expression that accounts for a change in the statement that makes it. It writes
 * an entry for each record that differs from before. Whoever changes a record has locked it, so that
 * `before` is what the change replaces.
 *
 * @param changes SQL of rows with the record's `id`, and its fields `before` and `after` as jsonb, by their JSON names in
 * the API; `before` is null for a record that is created. Fields that the statement does not change may be left out.
 */
export function auditEntry(resourceType: ResourceType, changes: string): string {
  return `${resourceType}_entry as (
     insert into audit_entries (procedure, subject, staff_id, request_id, resource_type, resource_id, before, after)
     select actor.*, '${resourceType}', id, differing_fields(before, after), differing_fields(after, before)
     from (${changes}) as changes,
       json_to_record($actor) as actor (procedure text, subject text, "staffId" integer, "requestId" text)
     where before is distinct from after
   )`;
}
