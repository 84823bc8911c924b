import { differing, type ResourceType } from '../audit/entry.ts';

/**
 * A kind of record that an order holds while it is paid (design 13, 15): a use of a coupon, or units of a slot. It is
 * HELD until a time, and then `taken` for good, unless it is RELEASED or EXPIRED. It is live while it is held or taken.
 */
export interface HoldKind {
  readonly table: string;
  readonly resourceType: ResourceType;
  /** The state after HELD. In lower case and with `_at`, it is the column of its time. */
  readonly taken: string;
  /** How the names of the states begin in the API. */
  readonly statePrefix: string;
  /** SQL of the columns that other kinds don't have. */
  readonly ownColumns: string;
  /** Returns SQL of the audited fields of a row that other kinds don't have, and that can change. */
  ownFields(row: string): string;
}

export type HoldState<Taken extends string> = 'HELD' | Taken | 'RELEASED' | 'EXPIRED';

/** The columns that all kinds have. */
export interface HoldRow<Taken extends string> {
  id: number;
  orderKey: string;
  /** As of the statement: a hold that has run out is EXPIRED. */
  state: HoldState<Taken>;
  heldUntil: Date | null;
  createdAt: Date;
  /** Since when it is taken. */
  takenAt: Date | null;
  releasedAt: Date | null;
}

// SQL on a row of such a table. The time is the statement's, because a transaction may have begun earlier.

/** SQL of whether the hold of a row has run out, although the row does not say so yet. */
export const isRunOut = (row: string) => `(${row}.state = 'HELD' and ${row}.held_until <= statement_timestamp())`;
/** SQL of the state of a row, as callers see it. */
export const stateOf = (row: string) => `case when ${isRunOut(row)} then 'EXPIRED' else ${row}.state end`;
/** SQL of whether a row is live. It names the states first, for the indexes. */
export const isLive = ({ table, taken }: HoldKind) =>
  `(${table}.state in ('HELD', '${taken}') and (${table}.state = '${taken}' or ${table}.held_until > statement_timestamp()))`;
/** SQL of the column that has the time since when a row is taken. */
export const takenColumn = ({ taken }: HoldKind) => `${taken.toLowerCase()}_at`;

/** SQL of the columns of a row, those of `HoldRow` and its own. */
export const holdColumns = (kind: HoldKind) => `
  ${kind.table}.id, ${kind.table}.order_key as "orderKey", ${kind.ownColumns}, ${stateOf(kind.table)} as state,
  ${kind.table}.held_until as "heldUntil", ${kind.table}.created_at as "createdAt",
  ${kind.table}.${takenColumn(kind)} as "takenAt", ${kind.table}.released_at as "releasedAt"`;

/** Returns SQL of the audited fields of a row that can change. */
export const changingFields = (kind: HoldKind, row: string) => `
  ${kind.ownFields(row)}, 'state', '${kind.statePrefix}' || ${stateOf(row)}, 'heldUntil', api_time(${row}.held_until),
  '${kind.taken.toLowerCase()}At', api_time(${row}.${takenColumn(kind)}), 'releasedAt', api_time(${row}.released_at)`;

/** Returns SQL for `auditEntry` of the change of the row `seen` to that of `written`. */
export const changeOfHold = (kind: HoldKind, written = 'written') =>
  differing(
    `select id, json_build_object(${changingFields(kind, 'seen')}) as old, json_build_object(${changingFields(kind, written)}) as new
     from seen join ${written} using (id)`,
  );

/** Returns SQL for `auditEntry` of the new row `created`. `fields` are those of its own that never change. */
export const creationOfHold = (kind: HoldKind, fields = '') => `
  select id, null::json as before, json_strip_nulls(json_build_object(
    ${fields} 'orderKey', order_key, 'createdAt', api_time(created_at), ${changingFields(kind, 'created')}
  )) as after
  from created`;

/** Returns the times that the messages of all kinds have. */
export function toTimes({ heldUntil, createdAt, releasedAt }: HoldRow<string>) {
  return { heldUntil: heldUntil?.getTime(), createdAt: createdAt.getTime(), releasedAt: releasedAt?.getTime() };
}
