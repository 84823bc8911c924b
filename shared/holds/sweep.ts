import { type Statement, statement } from '../db/statement.ts';
import { type HoldKind, isRunOut } from './hold.ts';

/**
 * Declares the statement that marks holds which have run out, and count as such already (design 13). It returns how
 * many it has marked.
 *
 * @param also SQL of common table expressions, of which `free` has the ids that may be marked of those in `oldest`; and
 * of further columns.
 */
export const markStatement = <Row extends { swept: number }>(
  { table }: HoldKind,
  also = { sql: 'free as (select id from oldest)', columns: '' },
): Statement<Row, { most: number }> =>
  statement(
    'sweepHolds',
    `with oldest as (
       select * from ${table} where ${isRunOut(table)}
       order by held_until limit $most::integer for no key update skip locked
     ),
     ${also.sql},
     swept as (update ${table} set state = 'EXPIRED' from free where ${table}.id = free.id returning 1)
     select count(*)::integer as swept${also.columns} from swept`,
  );
