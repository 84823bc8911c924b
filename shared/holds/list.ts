import { type Queryable, statement } from '../db/statement.ts';
import { type IdPage, lastId, readIdPage, toIdPage } from '../rpc/paging.ts';
import { type HoldKind, type HoldRow, holdColumns, isRunOut } from './hold.ts';

/**
 * Returns a function that lists the records of a kind, newest first (design 13): those that match all filters that are
 * given, and are in one of the states asked for, or in any if none is. It resolves with the rows and the token of the
 * next page, and throws INVALID_ARGUMENT for a page token of other filters.
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
    request: { readonly limit?: number | undefined; readonly pageToken: string },
  ) => {
    const states = allStates.filter((state) => asked.length === 0 || asked.includes(state));
    const page = readIdPage([kind.table, JSON.stringify({ ...filters, states })], request);
    const given = Object.keys(conditions).filter((filter) => filters[filter] !== undefined);
    const select = selectPage<Row>([name, ...given].join('-'), kind, given, conditions);
    return toIdPage(page, await db.query(select({ ...filters, states, ...page })));
  };
}

/**
 * Declares one statement for each set of filters, so that PostgreSQL plans each with the right index. The page is
 * merged from the newest records in each state, because the indexes have the state before the id.
 */
function selectPage<Row>(
  name: string,
  kind: HoldKind,
  given: readonly string[],
  conditions: Readonly<Record<string, string>>,
) {
  const { table } = kind;
  const isAsked = given.map((filter) => `${conditions[filter]} and `).join('');
  // The records of an order are few, so they are read first, and then sorted.
  const rows = given.includes('orderKey')
    ? `(select * from ${table} where ${isAsked}state = asked.state offset 0)`
    : table;
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
