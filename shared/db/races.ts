import { type ErrorRow, fail } from '../errors/errors.ts';
import { databaseErrors, lostRaceFor } from './errors.ts';
import { onlyRow } from './statement.ts';

const maxRuns = 3;

/** What a conditional write had read before has changed meanwhile. */
export class LostRace extends Error {}

/**
 * Runs a conditional write: one statement that checks the rules, writes only when all hold, and
 * answers with what it found and what it wrote. Of two such statements at the same time both may find
 * that the rules hold; a constraint then stops the second one. It runs again, finds what the first one
 * wrote, and its caller refuses by the rule.
 *
 * @param write resolves with the rows of the statement, of which there is one. It may throw `LostRace`. `run` counts from 1.
 * @param codeTaken the error when the third run, too, finds its code taken at the last moment.
 * @throws ABORTED when the third run loses another race, and what else `write` throws.
 */
export async function conditionalWrite<Row>(
  write: (run: number) => Promise<readonly Row[]>,
  codeTaken: ErrorRow = databaseErrors.conflict,
): Promise<Row> {
  for (let run = 1; ; run += 1) {
    try {
      return onlyRow(await write(run));
    } catch (error) {
      const lost = error instanceof LostRace ? 'row' : lostRaceFor(error);
      if (lost === undefined) throw error;
      if (run === maxRuns) throw fail(lost === 'code' ? codeTaken : databaseErrors.conflict, { cause: error });
    }
  }
}

/**
 * Runs a conditional write whose statement reads more than the record that it changes, such as the record's links. The
 * statement sees all of it as it was when it began, which may be before another change of the record that it then waits for. So
 * it changes the record only while it `isAsSeen`. When the rules hold and it has written nothing all the same, it runs again with
 * the record locked before it begins: also for a record that does not exist.
 *
 * @param write resolves with the rows of the statement. `isLocked` tells whether it has to lock the record before.
 * @throws as `conditionalWrite` does.
 */
export function freshWrite<Row extends { mayWrite: boolean; id: number | null }>(
  write: (isLocked: boolean) => Promise<readonly Row[]>,
  codeTaken?: ErrorRow,
): Promise<Row> {
  return conditionalWrite(async (run) => {
    const rows = await write(run > 1);
    const { mayWrite, id } = onlyRow(rows);
    if (mayWrite && id === null) throw new LostRace();
    return rows;
  }, codeTaken);
}

/** The parameter of statements with an `etagMatches`. */
export interface Guard {
  /** The etag that a caller gave; empty for none. */
  readonly etag: string;
}

/**
 * SQL of the condition under which a record may be changed (design 9): the caller gave no etag, or the one that names the
 * record's state. The statement has locked `record`, or changes it only while it `isAsSeen`.
 */
export const etagMatches = (record: string) => `($etag = '' or ${record}.etag::text = $etag)`;

/**
 * SQL of the condition of a `freshWrite`: the row to update is still the one that the statement has read as `seen`. It tells by
 * `xmin`, which every update of a row changes, also one by an older release or by hand that leaves the etag alone.
 */
export const isAsSeen = (table: string) => `${table}.id = seen.id and ${table}.xmin = seen.xmin`;
