import { type Actor, auditEntry } from '../audit/entry.ts';
import { conditionalWrite, isAsSeen } from '../db/races.ts';
import { type BoundStatement, type Queryable, type Statement, statement } from '../db/statement.ts';
import { type ErrorRow, fail } from '../errors/errors.ts';
import { changeOfHold, type HoldKind, type HoldRow, holdColumns, stateOf, takenColumn } from './hold.ts';

/** What the record of a call has become. `mayWrite`: the call has changed it. */
export type Confirmed<Row> = { mayWrite: boolean } & (Row | { id: null });

/** How a kind is confirmed. */
interface Confirmation {
  /** SQL of common table expressions that judge a hold that has run out: the row `seen`. */
  readonly room: string;
  /** SQL of whether it can be taken again, from the row `seen` and what `room` declares. */
  readonly hasRoom: string;
  /** SQL of further common table expressions, which follow the row `written`, and of columns. */
  readonly after?: { readonly sql: string; readonly columns: string };
}

/** Declares the statement by which a hold is taken. One that has run out is taken again if there is room. */
export function confirmStatement<Row extends HoldRow<string>>(
  kind: HoldKind,
  { room, hasRoom, after }: Confirmation,
): Statement<Confirmed<Row>, { id: number } & Actor> {
  const { table, taken, resourceType } = kind;
  return statement(
    'confirm',
    `with seen as materialized (
       select *, ${stateOf(table)} as current_state, xmin from ${table} where id = $id
     ),
     ${room},
     found as materialized (
       select current_state = 'HELD' or current_state = 'EXPIRED' and ${hasRoom} as "mayWrite" from seen, room
     ),
     written as (
       update ${table} set state = '${taken}', ${takenColumn(kind)} = statement_timestamp(), held_until = null
       from seen, found where "mayWrite" and ${isAsSeen(table)}
       returning ${table}.*
     ),
     ${auditEntry(resourceType, changeOfHold(kind))}${after === undefined ? '' : `,\n     ${after.sql}`}
     select coalesce("mayWrite", false) as "mayWrite", ${holdColumns(kind)}${after === undefined ? '' : `, ${after.columns}`}
     from (values (1)) as one left join found on true left join (
       select * from written
       union all select ${table}.* from ${table}, found where id = $id and not "mayWrite"
     ) as ${table} on true`,
  );
}

/**
 * Confirms a hold: resolves with its record, which is taken. `locks` go before the statement. Throws `notFound`,
 * `released`, and `expired` for a hold that has run out and can't be taken again.
 */
export async function confirmHold<Row extends HoldRow<string>>(
  db: Queryable,
  locks: readonly BoundStatement<unknown>[],
  write: BoundStatement<Confirmed<Row>>,
  errors: Record<'notFound' | 'released' | 'expired', ErrorRow>,
) {
  const found = await conditionalWrite(() => db.pipeline(locks, write));
  if (found.id === null) throw fail(errors.notFound);
  if (found.state === 'RELEASED') throw fail(errors.released);
  if (found.state === 'EXPIRED') throw fail(errors.expired);
  return found;
}
