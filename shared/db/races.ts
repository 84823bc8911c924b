import { type ErrorRow, fail } from '../errors/errors.ts';
import { databaseErrors, isLostRace } from './errors.ts';
import { onlyRow } from './statement.ts';

const maxRuns = 3;

/**
 * Runs a conditional write: one statement that checks the rules, writes only when all hold, and returns its findings
 * and the written row. The statement sees the database as of its start. If a concurrent transaction takes its code or
 * changes a row that it has read, it fails, or writes nothing although the rules hold. It then runs again, sees the
 * other write, and the caller reports the broken rule.
 *
 * The statement alone decides: both its write and the caller's answer follow from its column `mayWrite`. The caller
 * looks for a broken rule only when that is false, so an error has written nothing.
 *
 * @param write runs the statement and resolves with its one row. `mayWrite` tells whether the rules hold; `id` is the
 * id of the resulting record. If `mayWrite` is true and `id` is null, the write lost a race. `isRerun` tells it to lock
 * the record first, even one that does not exist.
 * @param lost the error when the third run loses a race too; for writes of a code, the error of a taken code.
 * @throws `lost`, ABORTED by default, and any other error of `write`.
 */
export async function conditionalWrite<Row extends { mayWrite: boolean; id: number | null }>(
  write: (isRerun: boolean) => Promise<readonly Row[]>,
  lost: ErrorRow = databaseErrors.conflict,
): Promise<Decided<Row>> {
  for (let run = 1; ; run += 1) {
    let cause: unknown;
    try {
      const row = onlyRow(await write(run > 1));
      if (isDecided(row)) return row;
    } catch (error) {
      if (!isLostRace(error)) throw error;
      cause = error;
    }
    if (run === maxRuns) throw fail(lost, { cause });
  }
}

/** A row of a statement that has not lost a race: it has the record if it may write. */
type Decided<Row> = (Row & { mayWrite: false }) | (Exclude<Row, { id: null }> & { mayWrite: true });

function isDecided<Row extends { mayWrite: boolean; id: number | null }>(row: Row): row is Row & Decided<Row> {
  return row.id !== null || !row.mayWrite;
}

/** The parameter that a statement with `etagMatches` requires. */
export interface Guard {
  /** The etag that the caller gave; empty for none. */
  readonly etag: string;
}

/**
 * SQL of the condition that permits a change of a record (design 9): the caller gave no etag, or the current
 * one. The etag can't change in between: the statement has locked the record when it was `seen`, or writes it
 * only while it `isAsSeen`.
 */
export const etagMatches = `($etag = '' or seen.etag::text = $etag)`;

/**
 * Returns SQL for a `conditionalWrite` that reads more than the row it updates, such as its links. The condition holds
 * while the row is unchanged since the statement read it as `seen`. It compares `xmin`, which changes with every
 * update, even by an older release or by hand that leaves the etag as it is.
 */
export const isAsSeen = (table: string) => `${table}.id = seen.id and ${table}.xmin = seen.xmin`;
