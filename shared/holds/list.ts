import { type Queryable, statement } from '../db/statement.ts';
import { type IdPage, lastId, readIdPage, toIdPage } from '../rpc/paging.ts';
import { countFound, totalOf } from '../searching/searching.ts';
import { type HoldKind, type HoldRow, holdColumns, isRunOut } from './hold.ts';

/**
 * Returns a function that lists the records of a kind, newest first (design 13): those that match all filters that are
 * given, and are in one of the states asked for, or in any if none is. It resolves with the rows, the token of the next
 * page and, if asked for, the total, and throws INVALID_ARGUMENT for a page token of other filters.
 *
 * @param name of the statements.
 * @param conditions SQL of each filter, by the name of its parameter.
 */
export function listHolds<Row extends HoldRow>(
  name: string,
  kind: HoldKind,
  conditions: Readonly<Record<string, string>>,
) {
  const allStates = ['HELD', kind.confirmed, 'RELEASED', 'EXPIRED'];
  return async (
    db: Queryable,
    filters: Readonly<Record<string, number | string | undefined>>,
    asked: readonly (string | undefined)[],
    request: { readonly limit?: number | undefined; readonly pageToken: string; readonly withTotal: boolean },
  ) => {
    const states = allStates.filter((state) => asked.length === 0 || asked.includes(state));
    const page = readIdPage([kind.table, JSON.stringify({ ...filters, states })], request);
    const given = Object.keys(conditions).filter((filter) => filters[filter] !== undefined);
    const isAsked = given.map((filter) => `${conditions[filter]} and `).join('');
    const select = selectPage<Row>([name, ...given].join('-'), kind, isAsked, given.includes('orderKey'));
    const [rows, total] = await Promise.all([
      db.query(select({ ...filters, states, ...page })),
      request.withTotal ? countFound(db, countHolds(kind, isAsked)({ ...filters, states })) : undefined,
    ]);
    return { ...toIdPage(page, rows), total };
  };
}

/**
 * Declares one statement for each set of filters, so that PostgreSQL plans each with the right index. The page is
 * merged from the newest records in each state, because the indexes have the state before the id.
 */
function selectPage<Row>(name: string, kind: HoldKind, isAsked: string, isOfOrder: boolean) {
  const { table } = kind;
  // The records of an order are few, so they are read first, and then sorted.
  const rows = isOfOrder ? `(select * from ${table} where ${isAsked}state = asked.state offset 0)` : table;
  // In one state, and after the previous page. Written so, only an index that has the state before the id gives the
  // order. By the ids alone PostgreSQL would read all newer records, which may have another state.
  const isPlaced = `(state, id) < (asked.state, ${lastId}) and state >= asked.state`;
  return statement<Row, IdPage & { readonly states: readonly string[] }>(
    name,
    `with run_out as materialized (
       select * from ${table}
       where ${isAsked}id < ${lastId} and 'EXPIRED' = any($states::text[]) and ${isRunOut(table)}
     ),
     found as (
       select found.* from unnest($states) as asked (state), lateral (
         select * from ${rows} as ${table}
         where ${isAsked}${isPlaced} and not ${isRunOut(table)}
         order by state desc, id desc limit $rows::integer
       ) as found
       union all
       select * from run_out
     )
     select ${holdColumns(kind)} from found as ${table} order by id desc limit $rows`,
  );
}

/** Declares the statement that counts the records, up to a limit. Those whose hold has run out are counted as EXPIRED. */
const countHolds = ({ table }: HoldKind, isAsked: string) =>
  statement<{ total: number }, { readonly states: readonly string[] }>(
    '',
    totalOf(`
      select from ${table} where ${isAsked}state = any($states::text[]) and not ${isRunOut(table)}
      union all select from ${table} where ${isAsked}state = 'HELD' and 'EXPIRED' = any($states) and ${isRunOut(table)}`),
  );
