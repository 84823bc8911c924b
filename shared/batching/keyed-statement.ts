import { type BoundStatement, statement } from '../db/statement.ts';

/** Binds the keys of the rows that are read, and the other parameters. */
export type KeyedStatement<Key, Row, Params extends object = Record<never, never>> = (
  keys: readonly Key[],
  params: Params,
) => BoundStatement<Row>;

/**
 * Declares raw SQL that reads the row of one key, which stands as `$key` in it; a key may have no row. For several keys, one
 * statement reads the rows of all, in any order. A row has to tell its key.
 *
 * @param name as `statement` takes it.
 * @param keyType the type of `$key` in PostgreSQL.
 */
export function keyedStatement<Key extends string | number, Row, Params extends object = Record<never, never>>(
  name: string,
  keyType: Key extends number ? 'integer' : 'text' | 'json',
  sql: string,
): KeyedStatement<Key, Row, Params> {
  const sqlOf = (key: string) => sql.replace(/\$key\b/g, `${key}::${keyType}`);
  const one = statement<Row, Record<string, unknown>>(name, sqlOf('$key'));
  // The keys are JSON because the planner sees how long an array is, and would plan each short one anew. With "offset 0" it
  // looks up key by key.
  const several = statement<Row, Record<string, unknown>>(
    `${name}Several`,
    `select found.*
     from json_array_elements_text($keys::json) as asked(key), lateral (
       ${sqlOf('asked.key')}
       offset 0
     ) as found`,
  );
  return (keys, params) =>
    keys.length === 1 ? one({ ...params, key: keys[0] }) : several({ ...params, keys: JSON.stringify(keys) });
}
