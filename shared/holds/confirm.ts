import { type Actor, auditEntry } from '../audit/entry.ts';
import { conditionalWrite, isAsSeen } from '../db/races.ts';
import { type BoundStatement, type Queryable, type Statement, statement } from '../db/statement.ts';
import { type ErrorRow, fail } from '../errors/errors.ts';
import {
  type Addition,
  changeOfHold,
  confirmedColumn,
  type HoldKind,
  type HoldRow,
  holdColumns,
  isLive,
  stateOf,
} from './hold.ts';

/** What the record of a call has become. `mayWrite`: the call has changed it. */
type Confirmed<Row> = { mayWrite: boolean } & (Row | { id: null });

/** How a kind is confirmed after its hold has run out. */
interface Confirmation extends Partial<Addition> {
  /** SQL of common table expressions that judge the row `seen`. One is named `room`, and has one row. */
  readonly room: string;
  /** SQL of whether it can be held again, from the rows `seen` and `room`. */
  readonly hasRoom: string;
  /** What an order has at most one live record of: a column. */
  readonly heldColumn: string;
}

/**
 * Declares the statement that confirms a hold. One that has run out is held again if there is room, and if the order
 * has no other live record of the same.
 */
export function confirmStatement<Row extends HoldRow>(
  kind: HoldKind,
  { room, hasRoom, heldColumn, sql = '', columns = '' }: Confirmation,
): Statement<Confirmed<Row>, { id: number } & Actor> {
  const { table, confirmed, resourceType } = kind;
  return statement(
    'confirm',
    `with seen as materialized (
       select *, ${stateOf(table)} as current_state, xmin from ${table} where id = $id
     ),
     ${room},
     found as materialized (
       select current_state = 'HELD' or current_state = 'EXPIRED' and ${hasRoom} and not exists (
         select from ${table}
         where order_key = seen.order_key and ${heldColumn} = seen.${heldColumn} and ${isLive(kind)}
       ) as "mayWrite"
       from seen, room
     ),
     written as (
       update ${table} set state = '${confirmed}', ${confirmedColumn(kind)} = statement_timestamp(), held_until = null
       from seen, found where "mayWrite" and ${isAsSeen(table)}
       returning ${table}.*
     ),
     ${auditEntry(resourceType, changeOfHold(kind))}${sql}
     select coalesce("mayWrite", false) as "mayWrite", ${holdColumns(kind)}${columns}
     from (values (1)) as one left join found on true left join (
       select * from written
       union all select ${table}.* from ${table}, found where id = $id and not "mayWrite"
     ) as ${table} on true`,
  );
}

/**
 * Runs the statement of a Confirm. Resolves with the record, which is confirmed. Throws the error for one that is
 * unknown, released, or whose hold has run out, and ABORTED if the statement lost three races.
 *
 * @param locks go before the statement, in the same round trip.
 */
export async function confirmHold<Row extends HoldRow>(
  db: Queryable,
  locks: readonly BoundStatement<unknown>[],
  write: BoundStatement<Confirmed<Row>>,
  errors: Readonly<Record<'notFound' | 'released' | 'expired', ErrorRow>>,
) {
  const found = await conditionalWrite(() => db.pipeline(locks, write));
  if (found.id === null) throw fail(errors.notFound);
  if (found.state === 'RELEASED') throw fail(errors.released);
  if (found.state === 'EXPIRED') throw fail(errors.expired);
  return found;
}
