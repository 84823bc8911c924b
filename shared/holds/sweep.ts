import { type Statement, statement } from '../db/statement.ts';
import { type Addition, type HoldKind, isRunOut } from './hold.ts';

/**
 * Declares the statement that marks holds which have run out, and count as such already (design 13). Its row tells how
 * many it has marked.
 *
 * @param addition may read the holds `oldest`. It declares `free`, which has the ids of those that may be marked.
 */
export const markStatement = <Row extends { swept: number }>(
  { table }: HoldKind,
  { sql, columns }: Addition = { sql: ', free as (select id from oldest)', columns: '' },
): Statement<Row, { most: number }> =>
  statement(
    'sweepHolds',
    `with oldest as (
       select * from ${table} where ${isRunOut(table)}
       order by held_until limit $most::integer for no key update skip locked
     )${sql},
     swept as (update ${table} set state = 'EXPIRED' from free where ${table}.id = free.id returning 1)
     select count(*)::integer as swept${columns} from swept`,
  );
