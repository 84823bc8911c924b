import { type Actor, auditEntry, differing } from '../audit/entry.ts';
import { type Statement, statement } from '../db/statement.ts';
import { changingFields, type HoldKind, type HoldRow, holdColumns } from './hold.ts';

/** The released record, and whether the call has released it. */
export type Released<Row> = Row & { isChanged: boolean };

/**
 * Declares the statement that gives a record back, whatever its state. It has no row for an id that is not known. The
 * reason goes to the audit trail.
 *
 * @param after SQL of further common table expressions, which follow the rows `seen` and `written`, and of columns.
 */
export function releaseStatement<Row extends HoldRow<string>>(
  kind: HoldKind,
  after?: { readonly sql: string; readonly columns: string },
): Statement<Released<Row>, { id: number; reason: string | undefined } & Actor> {
  const { table, resourceType } = kind;
  return statement(
    'release',
    `with seen as materialized (select * from ${table} where id = $id for no key update),
     written as (
       update ${table} set state = 'RELEASED', released_at = statement_timestamp(), held_until = null
       from seen where ${table}.id = seen.id and seen.state <> 'RELEASED'
       returning ${table}.*
     ),
     ${auditEntry(
       resourceType,
       differing(
         `select id, json_build_object(${changingFields(kind, 'seen')}, 'reason', null) as old,
            json_build_object(${changingFields(kind, 'written')}, 'reason', nullif($reason::text, '')) as new
          from seen join written using (id)`,
       ),
     )}${after === undefined ? '' : `,\n     ${after.sql}`}
     select ${holdColumns(kind)}, written.id is not null as "isChanged"${after === undefined ? '' : `, ${after.columns}`}
     from (select * from written union all select * from seen where state = 'RELEASED') as ${table}
       left join written using (id)`,
  );
}
