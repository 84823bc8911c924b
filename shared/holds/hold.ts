import { differing, type ResourceType } from '../audit/entry.ts';

/**
 * A kind of record that an order holds while it is paid (design 13, 15): a use of a coupon, or units of a slot. It is
 * HELD until a time, and `confirmed` for good, unless it is RELEASED or EXPIRED. It is live while it is held or
 * confirmed.
 */
export interface HoldKind {
  readonly table: string;
  readonly resourceType: ResourceType;
  /** The state that Confirm gives. In lower case and with `_at`, it is the column of its time. */
  readonly confirmed: string;
  /** How the names of the states begin in the API. */
  readonly statePrefix: string;
  /** SQL of the columns that other kinds don't have. */
  readonly ownColumns: string;
  /** SQL of the audited fields that never change. */
  readonly fixedFields: string;
  /** Returns SQL of the audited fields of a row that other kinds don't have, and that can change. */
  ownFields(row: string): string;
}

/** The states of a kind. */
export type HoldState<Confirmed extends string> = 'HELD' | Confirmed | 'RELEASED' | 'EXPIRED';

/** The columns that all kinds have. */
export interface HoldRow<Confirmed extends string = string> {
  id: number;
  orderKey: string;
  /** As of the statement: a hold that has run out is EXPIRED. */
  state: HoldState<Confirmed>;
  heldUntil: Date | null;
  createdAt: Date;
  confirmedAt: Date | null;
  releasedAt: Date | null;
}

/** SQL that a kind adds to a statement: further common table expressions, and columns of its result. */
export interface Addition {
  readonly sql: string;
  readonly columns: string;
}

// SQL on a row of such a table. The time is the statement's, because a transaction may have begun earlier.

/** SQL of whether the hold of a row has run out, although the row does not say so yet. */
export const isRunOut = (row: string) => `(${row}.state = 'HELD' and ${row}.held_until <= statement_timestamp())`;
/**
 * The same for all rows of a coupon or slot, where the table has no other name. The time is written as an index has it
 * that no other one can stand for. Otherwise PostgreSQL might choose the index of either, and read all holds of the
 * coupon or slot, or those of all that have run out.
 */
export const isRunOutByOwner =
  "(state = 'HELD' and held_until at time zone 'UTC' <= statement_timestamp() at time zone 'UTC')";
/** SQL of the state of a row, as callers see it. */
export const stateOf = (row: string) => `case when ${isRunOut(row)} then 'EXPIRED' else ${row}.state end`;
/** SQL of whether a row is live. It names the states first, for the indexes. */
export const isLive = ({ table, confirmed }: HoldKind, row = table) =>
  `(${row}.state in ('HELD', '${confirmed}') and (${row}.state = '${confirmed}' or ${row}.held_until > statement_timestamp()))`;
/** SQL of the column that has the time since when a row is confirmed. */
export const confirmedColumn = ({ confirmed }: HoldKind) => `${confirmed.toLowerCase()}_at`;

/** SQL of the columns of a row, those of `HoldRow` and its own. */
export const holdColumns = (kind: HoldKind) => `
  ${kind.table}.id, ${kind.table}.order_key as "orderKey", ${kind.ownColumns}, ${stateOf(kind.table)} as state,
  ${kind.table}.held_until as "heldUntil", ${kind.table}.created_at as "createdAt",
  ${kind.table}.${confirmedColumn(kind)} as "confirmedAt", ${kind.table}.released_at as "releasedAt"`;

const changingFields = (kind: HoldKind, row: string) => `
  ${kind.ownFields(row)}, 'state', '${kind.statePrefix}' || ${stateOf(row)}, 'heldUntil', api_time(${row}.held_until),
  '${kind.confirmed.toLowerCase()}At', api_time(${row}.${confirmedColumn(kind)}), 'releasedAt', api_time(${row}.released_at)`;

/**
 * Returns SQL for `auditEntry` of the change of the row `seen` to that of `written`.
 *
 * @param reason SQL of the reason for the change, which the entry tells.
 */
export const changeOfHold = (kind: HoldKind, written = 'written', reason?: string) => {
  const fields = (row: string, given: string) =>
    `json_build_object(${changingFields(kind, row)}${reason === undefined ? '' : `, 'reason', ${given}`})`;
  const changes = differing(
    `select id, ${fields('seen', 'null')} as old, ${fields(written, reason ?? '')} as new
     from seen join ${written} using (id)`,
  );
  // A hold may be renewed within the millisecond that its entry would tell.
  return `${changes} where before::text <> after::text`;
};

/** Returns SQL for `auditEntry` of the new row `created`. */
export const creationOfHold = (kind: HoldKind) => `
  select id, null::json as before, json_strip_nulls(json_build_object(
    ${kind.fixedFields}, 'createdAt', api_time(created_at), ${changingFields(kind, 'created')}
  )) as after
  from created`;

/** Returns the times of a record in Unix ms, under the names that the messages of all kinds have. */
export function toTimes({ heldUntil, createdAt, releasedAt }: HoldRow) {
  return { heldUntil: heldUntil?.getTime(), createdAt: createdAt.getTime(), releasedAt: releasedAt?.getTime() };
}
