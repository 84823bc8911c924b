/** A statement with its values, ready to be sent. Its name makes PostgreSQL keep its plan. */
export interface BoundStatement<Row> {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** Only a type: carries `Row` from the statement to its result. */
  readonly row?: Row;
}

/** Binds the values of a statement's parameters. */
export type Statement<Row, Params extends object> = (
  ...params: keyof Params extends never ? [] : [params: Params]
) => BoundStatement<Row>;

/**
 * Declares a statement of raw SQL, in which `$slotId` stands for the parameter `slotId`. A parameter
 * may stand in several places; undefined is sent as null.
 *
 * @param name unique among the statements of a service: the procedure's, where it has one statement.
 * @returns a function that binds values. It throws when one of the parameters is not given.
 */
export function statement<Row, Params extends object = Record<never, never>>(
  name: string,
  sql: string,
): Statement<Row, Params> {
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

/** The driver quotes and escapes each item of an array, which takes a call with 100,000 ids longer than its statement does. */
function parameterOf(value: unknown): unknown {
  return Array.isArray(value) && typeof value[0] === 'number' ? `{${value.join()}}` : value;
}

/** The row of a statement that always has exactly one. */
export function onlyRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('the statement has no row');
  return row;
}
