import { type Actor, auditEntry } from '../audit/entry.ts';
import { type Statement, statement } from '../db/statement.ts';
import { type Addition, changeOfHold, type HoldKind, type HoldRow, holdColumns } from './hold.ts';

/**
 * Declares the statement that gives a record back, whatever its state. It has no row for an id that is not known. The
 * reason goes to the audit trail. `isChanged`: the call has released it.
 *
 * @param addition may read the row `seen`, and the row `written`, which is there if the call has released it.
 */
export function releaseStatement<Row extends HoldRow>(
  kind: HoldKind,
  { sql, columns }: Addition = { sql: '', columns: '' },
): Statement<Row & { isChanged: boolean }, { id: number; reason: string | undefined } & Actor> {
  const { table, resourceType } = kind;
  return statement(
    'release',
    `with seen as materialized (select * from ${table} where id = $id for no key update),
     written as (
       update ${table} set state = 'RELEASED', released_at = statement_timestamp(), held_until = null
       from seen where ${table}.id = seen.id and seen.state <> 'RELEASED'
       returning ${table}.*
     ),
     ${auditEntry(resourceType, changeOfHold(kind, 'written', "nullif($reason::text, '')"))}${sql}
     select ${holdColumns(kind)}, written.id is not null as "isChanged"${columns}
     from (select * from written union all select * from seen where state = 'RELEASED') as ${table}
       left join written using (id)`,
  );
}
