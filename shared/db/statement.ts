import diagnosticsChannel from 'node:diagnostics_channel';

/** A statement with its values, ready to send. PostgreSQL keeps the plan under its name. */
export interface BoundStatement<Row> {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** Never set: carries the type `Row` from the statement to its result. */
  readonly row?: Row;
}

/** Runs statements, each on its own or all in an open transaction. */
export interface Queryable {
  /** Runs one statement. Throws a ConnectError without the driver's text (design 3). */
  query<Row>(statement: BoundStatement<Row>): Promise<Row[]>;
  /**
   * Runs statements in one transaction and one round trip; if one fails, all are rolled back. Resolves with
   * the rows of `last`, which runs without a transaction when `before` is empty. Rejects with the error of
   * the first failed statement.
   */
  pipeline<Row>(before: readonly BoundStatement<unknown>[], last: BoundStatement<Row>): Promise<Row[]>;
}

/** Binds the values of a statement's parameters. */
export type Statement<Row, Params extends object> = (
  ...params: keyof Params extends never ? [] : [params: Params]
) => BoundStatement<Row>;

/** Tells subscribers of each statement as it is declared, with its `name` and its `sql`. */
const declared = diagnosticsChannel.channel('statement-declared');

/**
 * Declares a statement of raw SQL with named parameters: `$slotId` is the parameter `slotId`. A parameter may occur
 * several times. Undefined is sent as null.
 *
 * @param name unique among the statements of a service: the procedure's name if it has only one.
 * @returns a function that binds values. It throws if a parameter is missing.
 */
export function statement<Row, Params extends object = Record<never, never>>(
  name: string,
  sql: string,
): Statement<Row, Params> {
  declared.publish({ name, sql });
  const parameters: string[] = [];
  const text = sql.replace(/\$([a-zA-Z]\w*)/g, (_place, parameter: string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter);
    return `$${parameters.indexOf(parameter) + 1}`;
  });
  return (...[params = {}]: readonly object[]) => ({
    name,
    text,
    values: parameters.map((parameter) => {
      if (!(parameter in params)) throw new Error(`the statement ${name} lacks its parameter ${parameter}`);
      return parameterOf(Reflect.get(params, parameter));
    }),
  });
}

/**
 * Formats number arrays here. The driver quotes and escapes each item, which for 100,000 ids takes
 * longer than the statement.
 */
function parameterOf(value: unknown): unknown {
  return Array.isArray(value) && typeof value[0] === 'number' ? `{${value.join()}}` : value;
}

/** Returns the row of a statement that always has exactly one. Throws if it has none. */
export function onlyRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('the statement has no row');
  return row;
}
