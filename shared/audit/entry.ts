import { isInt32 } from '../db/int32.ts';
import type { CallContext } from '../rpc/call-context.ts';
import { procedureName } from '../rpc/procedure.ts';

/** The types of the records that the audit trail accounts for (design 10). */
export type ResourceType =
  | 'slot'
  | 'coupon'
  | 'reserved_coupon'
  | 'user'
  | 'redemption'
  | 'coupon_batch'
  | 'booking'
  | 'product'
  | 'product_group'
  | 'order';

/** The parameters that a statement with an `auditEntry`, or with `ifNewKey`, requires. */
export interface Actor {
  /**
   * In this order: procedure, subject, staff id and request id of the call that makes the change, and the external id of
   * a staff user whose id is not known yet.
   */
  readonly actor: readonly (string | null)[];
  /** The hash of the call's idempotency key; undefined if it has none. */
  readonly keyId: Buffer | undefined;
}

/**
 * Returns the caller of a call as `auditEntry` records it, and the hash of its idempotency key. A staff id outside
 * int32 becomes null.
 */
export function actorOf(call: CallContext): Actor {
  const { subject, claimedStaffId, staffExternalId = null } = call.identity;
  const staffId = claimedStaffId !== undefined && isInt32(claimedStaffId) ? String(claimedStaffId) : null;
  return { actor: [procedureName(call.method), subject, staffId, call.requestId, staffExternalId], keyId: call.keyId };
}

/**
 * Returns SQL of a common table expression that writes an audit entry for each row of `changes`. The statement that
 * makes a change also records it.
 *
 * @param changes SQL of rows with `id`, `before` and `after`. `before` and `after` are JSON objects of the fields that
 * differ, under their JSON names in the API. `before` is null for a new record. The default suits an update: the
 * `change` of each record that was `written`.
 */
export function auditEntry(
  resourceType: ResourceType,
  changes = 'select id, before, after from change join written using (id)',
): string {
  // Without "offset 0", PostgreSQL would build the JSON twice: once for its size and once to store it.
  return `${resourceType}_entry as (
     insert into audit_entries (
       procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
     )
     select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
         select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
       ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
       '${resourceType}', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
     from (${changes} offset 0) as changes
   )`;
}

/**
 * Returns SQL of a common table expression that writes the audit entry of a new record, from SQL of the names and
 * values of its fields, and of the row that has them and the `id`.
 */
export const createdEntry = (resourceType: ResourceType, fields: string, from = 'written') =>
  auditEntry(
    resourceType,
    `select id, null::json as before, json_strip_nulls(json_build_object(${fields})) as after from ${from}`,
  );

/**
 * Returns SQL of a common table expression `change`. Its column `differs` tells whether a write would change the
 * record. The write joins it, so that a write without effect leaves the record, its etag and the audit trail alone
 * (design 9, 10). It compares the texts of both, so equal values must be built alike. `before` is exact, because the
 * statement has either locked the record or writes it only while it `isAsSeen`.
 *
 * @param changes SQL of one row as for `auditEntry`, or of no row when the record must not be changed.
 */
export function changeOf(changes: string): string {
  return `change as materialized (
     select *, before::text is distinct from after::text as differs from (${changes} offset 0) as changes
   )`;
}

/** SQL of a common table expression `kept`: the record after the write. An unchanged record comes from `seen`. */
export const keptRecord = `kept as (
     select * from written
     union all select seen.* from seen join change using (id) where not differs
   )`;

/**
 * Returns SQL for `changeOf` that compares whole records field by field (migration 0031, `changed_fields`).
 *
 * @param records SQL of rows with `id`, and the whole records `old` and `new` as JSON with the same
 * fields in the same order.
 */
export const differing = (records: string) =>
  `select id, before, after from (${records}) as records, lateral changed_fields(old, new)`;

/**
 * Returns the JSON of an id list for the entry of a new record. More than 100 ids take the form of SQL's `changed_ids`.
 */
export function idsEntryJson(ids: readonly number[]): string {
  return JSON.stringify(ids.length > 100 ? { added: inOrder(ids), removed: [] } : ids);
}

/** Returns the same JSON for a set of ids that is stored as one row per id. */
export const linksEntryJson = (ids: readonly number[]) => idsEntryJson(inOrder(ids));

const inOrder = (ids: readonly number[]) => ids.toSorted((left, right) => left - right);
