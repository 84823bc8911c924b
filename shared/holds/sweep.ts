import { type Statement, statement } from '../db/statement.ts';
import { type Addition, type HoldKind, isRunOut } from './hold.ts';

/**
 * Declares the statement that marks holds which have run out, and count as such already (design 13). Its row tells how
 * many it has marked. It skips those that are locked.
 *
 * @param locked SQL that joins further rows to the holds, which it locks, too.
 */
export const markStatement = <Row extends { swept: number }>(
  { table }: HoldKind,
  locked = '',
  { sql, columns }: Addition = { sql: '', columns: '' },
): Statement<Row, { most: number }> =>
  statement(
    'sweepHolds',
    `with oldest as (
       select ${table}.id from ${table} ${locked} where ${isRunOut(table)}
       order by held_until limit $most::integer for no key update skip locked
     )${sql},
     swept as (update ${table} set state = 'EXPIRED' from oldest where ${table}.id = oldest.id returning 1)
     select count(*)::integer as swept${columns} from swept`,
  );
