import { type ErrorRow, fail } from '../errors/errors.ts';
import { databaseErrors, isLostRace } from './errors.ts';
import { onlyRow } from './statement.ts';

const maxRuns = 3;

/**
 * Runs a conditional write: one statement that checks the rules, writes only when all hold, and answers with what it found
 * and what it wrote. It sees everything as it was when it began. So when another transaction got in its way, by taking a code or
 * by changing the record that it has read, it writes nothing although the rules hold, or fails. It then runs again, finds what
 * the other one wrote, and its caller refuses by the rule.
 *
 * @param write resolves with the rows of the statement, of which there is one. `mayWrite` tells whether the rules hold, `id` what
 * is there as it was asked for. `isRerun` tells whether to lock the record before, also one that does not exist.
 * @param lost the error when the third run loses a race, too: for a code that is generated or given, that it is taken.
 * @throws that error, ABORTED unless it is given, and what else `write` throws.
 */
export async function conditionalWrite<Row extends { mayWrite: boolean; id: number | null }>(
  write: (isRerun: boolean) => Promise<readonly Row[]>,
  lost: ErrorRow = databaseErrors.conflict,
): Promise<Row> {
  for (let run = 1; ; run += 1) {
    let cause: unknown;
    try {
      const row = onlyRow(await write(run > 1));
      if (row.id !== null || !row.mayWrite) return row;
    } catch (error) {
      if (!isLostRace(error)) throw error;
      cause = error;
    }
    if (run === maxRuns) throw fail(lost, { cause });
  }
}

/** The parameter of statements with an `etagMatches`. */
export interface Guard {
  /** The etag that a caller gave; empty for none. */
  readonly etag: string;
}

/**
 * SQL of the condition under which a record may be changed (design 9): the caller gave no etag, or the one that names the
 * record's state. The statement has locked the record when it was `seen`, or changes it only while it `isAsSeen`.
 */
export const etagMatches = `($etag = '' or seen.etag::text = $etag)`;

/**
 * SQL of the condition of a `conditionalWrite` that reads more than the row that it changes, such as its links: the row to update is still the one that the statement has read as `seen`. It tells by
 * `xmin`, which every update of a row changes, also one by an older release or by hand that leaves the etag alone.
 */
export const isAsSeen = (table: string) => `${table}.id = seen.id and ${table}.xmin = seen.xmin`;
