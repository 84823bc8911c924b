import { type BoundStatement, statement } from '../db/statement.ts';

/** Binds the keys and the other parameters. */
export type KeyedStatement<Key, Row, Params extends object = Record<never, never>> = (
  keys: readonly Key[],
  params: Params,
) => BoundStatement<Row>;

/**
 * Declares SQL that reads the row of one key, written as `$key`. For several keys, one statement reads all rows, in any
 * order, so a row must contain its key. A key may have no row.
 *
 * @param name as for `statement`.
 * @param keyType the type of `$key` in PostgreSQL.
 */
export function keyedStatement<Key extends string | number, Row, Params extends object = Record<never, never>>(
  name: string,
  keyType: Key extends number ? 'integer' : 'text',
  sql: string,
): KeyedStatement<Key, Row, Params> {
  const sqlOf = (key: string) => sql.replace(/\$key\b/g, `${key}::${keyType}`);
  const one = statement<Row, Record<string, unknown>>(name, sqlOf('$key'));
  // "offset 0" keeps the planner from merging the two queries, so that it looks up one key after the other.
  const several = statement<Row, Record<string, unknown>>(
    `${name}Several`,
    `select found.*
     from unnest($keys::${keyType}[]) as asked (key), lateral (
       ${sqlOf('asked.key')}
       offset 0
     ) as found`,
  );
  return (keys, params) => (keys.length === 1 ? one({ ...params, key: keys[0] }) : several({ ...params, keys }));
}
