import { isInt32 } from '../db/int32.ts';
import type { CallContext } from '../rpc/call-context.ts';
import { procedureName } from '../rpc/procedure-path.ts';

/** The types of the records that the audit trail accounts for (design 10). */
export type ResourceType = 'slot' | 'coupon' | 'reserved_coupon' | 'user';

/** The parameter of statements with an `auditEntry`. */
export interface Actor {
  /** Who makes the change: procedure, subject, staff id and request id. */
  readonly actor: readonly (string | null)[];
}

/** The caller of a call, as the one who makes its changes. */
export function actorOf(call: CallContext): Actor {
  const { subject, claimedStaffId } = call.identity;
  const staffId = claimedStaffId !== undefined && isInt32(claimedStaffId) ? String(claimedStaffId) : null;
  return { actor: [procedureName(call.method), subject, staffId, call.requestId] };
}

/**
 * SQL of a common table expression that accounts for a change in the statement that makes it. It writes
 * an entry for each record that differs from before. `before` is what the change replaces, because the statement has locked the
 * record, or changes it only while it `isAsSeen`.
 *
 * @param changes SQL of rows with the record's `id`, and with the fields that differ, `before` and `after`, as json by
 * their JSON names in the API; `before` is null for a record that is created.
 */
export function auditEntry(resourceType: ResourceType, changes: string): string {
  // Without "offset 0", the fields would be built twice: to be compared, and to be stored.
  return `${resourceType}_entry as (
     insert into audit_entries (
       procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
     )
     select ($actor::text[])[1], ($actor::text[])[2], ($actor::text[])[3]::integer, ($actor::text[])[4],
       '${resourceType}', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
     from (${changes} offset 0) as changes
     where before::text is distinct from after::text
   )`;
}

/**
 * SQL of the changes of an `auditEntry`, for records of which any field may differ: leaves out the fields that do not, and those
 * that have no value. `records` is SQL of rows with the `id`, and the whole records `old` and `new` as json.
 */
export function differing(records: string): string {
  return `select id, before, after from (${records}) as records, lateral (
      select coalesce(json_object_agg(key, old -> key) filter (where old ->> key is not null), '{}') as before,
        coalesce(json_object_agg(key, value) filter (where new ->> key is not null), '{}') as after
      from json_each(new) where value::text is distinct from (old -> key)::text
    ) as differing`;
}
