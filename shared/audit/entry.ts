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
 * SQL of a common table expression that accounts for a change in the statement that makes it: it writes an entry for each row of
 * `changes`.
 *
 * @param changes SQL of rows with the record's `id`, and with the fields that differ, `before` and `after`, as json by
 * their JSON names in the API; `before` is null for a record that is created. Of a record that was there, its `change`, once it is `written`.
 */
export function auditEntry(
  resourceType: ResourceType,
  changes = 'select id, before, after from change join written using (id)',
): string {
  // Without "offset 0", the fields would be built twice: to be measured, and to be stored.
  return `${resourceType}_entry as (
     insert into audit_entries (
       procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
     )
     select ($actor::text[])[1], ($actor::text[])[2], ($actor::text[])[3]::integer, ($actor::text[])[4],
       '${resourceType}', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
     from (${changes} offset 0) as changes
   )`;
}

/**
 * SQL of a common table expression `change`, of which a row tells whether a write `differs` from what is there. What writes joins
 * it: a write without effect then leaves the record, its etag and the trail alone (design 9, 10). `before` is what the change
 * replaces, because the statement has locked the record, or changes it only while it `isAsSeen`.
 *
 * @param changes SQL of the row, as of `auditEntry`; there is none when the record may not be changed.
 */
export function changeOf(changes: string): string {
  return `change as materialized (
     select *, before::text is distinct from after::text as differs from (${changes} offset 0) as changes
   )`;
}

/** SQL of a common table expression `kept`: the record after its `change`, as it was `written`, or as it was `seen` when nothing differs. */
export const keptRecord = `kept as (
     select * from written
     union all select seen.* from seen join change using (id) where not differs
   )`;

/**
 * SQL of the changes of `changeOf`, for records of which any field may differ: leaves out the fields that do not, and those
 * that have no value. Of a list of more than 100 ids, `after` has those that were added and removed, and `before` nothing.
 *
 * @param records SQL of rows with the `id`, and the whole records `old` and `new` as json, with the same fields in the same order.
 */
export function differing(records: string): string {
  // Side by side, each record is parsed once, not once for each of its fields.
  return `select id, before, after from (${records}) as records, lateral (
      select coalesce(json_object_agg(key, had) filter (where json_typeof(had) <> 'null' and ids is null), '{}') as before,
        coalesce(json_object_agg(key, coalesce(ids, has)) filter (where json_typeof(has) <> 'null' or ids is not null), '{}') as after
      from rows from (json_each(old), json_each(new)) as fields (key, had, same_key, has),
        -- 101 ids have more than 200 characters: a call for each field would be a tenth of a write.
        lateral (
          select case when greatest(octet_length(had::text), octet_length(has::text)) > 200 then changed_ids(had, has) end as ids offset 0
        ) as changed_ids
      where has::text is distinct from had::text
    ) as differing`;
}

/** A list of ids in the entry of a record that is created, as JSON: of more than 100 ids in the form of SQL's `changed_ids`. */
export function createdIds(ids: readonly number[]): string {
  return JSON.stringify(ids.length > 100 ? { added: inOrder(ids), removed: [] } : ids);
}

/** A set of ids, which is stored as a row for each, in the entry of a record that is created, as JSON. */
export const createdLinks = (ids: readonly number[]) => createdIds(inOrder(ids));

const inOrder = (ids: readonly number[]) => ids.toSorted((left, right) => left - right);
