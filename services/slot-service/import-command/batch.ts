import { ConnectError } from '@connectrpc/connect';
import type { Caller } from '../../../shared/db/caller.ts';
import type { Database } from '../../../shared/db/database.ts';
import { statement } from '../../../shared/db/statement.ts';
import { invalidField } from '../../../shared/errors/errors.ts';
import { ImportOutcome } from '../../../shared/gen/catalog/v1/import_service_pb.ts';
import { type Given, type Importing, writeRows } from '../imports/import.ts';
import { isShortened, shortenedProblem } from '../imports/mobile.ts';
import type { FileRow } from './file.ts';

/** How rows of a file become records. */
export interface BatchImport<Row extends Given> {
  /** As audit entries name it. */
  readonly procedure: string;
  readonly importing: Importing<Row>;
  /** Reads a row. Throws INVALID_ARGUMENT. */
  read(values: FileRow['values']): Row;
}

/** Where rows are written to. */
export interface ImportTarget {
  /** Always the same session, which has the table of `rememberIds`. */
  readonly database: Database;
  readonly caller: Caller;
  readonly callingCode: string | undefined;
  /** Rows whose value another record has. Once the whole file is read, a batch without rows imports them together. */
  readonly held: HeldRow[];
  /** How many such rows there may be. */
  maxHeld: number;
}

/** A row of a file with its record, and what the statement is given of it. */
interface HeldRow {
  readonly row: FileRow;
  readonly externalId: string;
  readonly given: object;
}

/** What became of the rows of a batch. */
export interface ImportedBatch {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: readonly { readonly row: FileRow; readonly reason: string }[];
}

/** The external ids of the file's rows so far. They may be too many for this process's memory. */
export const createIds = statement<never>(
  'createImportedIds',
  'create temporary table imported_ids (external_id text collate "C" primary key)',
);
const rememberIds = statement<{ externalId: string }, { externalIds: readonly string[] }>(
  'rememberImportedIds',
  `insert into imported_ids select distinct unnest($externalIds::text[]) on conflict do nothing
   returning external_id as "externalId"`,
);

/** Returns the external id of a row whose other values can't be read; undefined if it has none. */
function externalIdOf({ values, problem }: FileRow): string | undefined {
  const given = values.get('external_id');
  const id = typeof given === 'string' || typeof given === 'number' ? String(given).trim() : '';
  return problem === undefined && /^[!-~]{1,128}$/.test(id) ? id : undefined;
}

/**
 * Imports some rows of a file: all but those that can't be taken. Of several rows with one external id, all but the
 * first of the file are refused.
 */
export async function importBatch<Row extends Given>(
  { procedure, importing, read }: BatchImport<Row>,
  batch: readonly FileRow[],
  { database, caller, callingCode, held, maxHeld }: ImportTarget,
): Promise<ImportedBatch> {
  const reasons = new Map<FileRow, string>();
  const readable: readonly HeldRow[] = batch.flatMap((row) => {
    try {
      if (row.problem === undefined) {
        const record = read(row.values);
        const { externalId } = record;
        if (isShortened(externalId)) throw invalidField('external_id', shortenedProblem);
        return [{ row, externalId, given: importing.toGiven(record, callingCode, '') }];
      }
      reasons.set(row, row.problem);
    } catch (error) {
      reasons.set(row, reasonOf(error));
    }
    return [];
  });
  const idsRead = new Map(readable.map(({ row, externalId }) => [row, externalId]));
  const named = batch.map((row) => ({ row, externalId: idsRead.get(row) ?? externalIdOf(row) ?? '' }));
  const externalIds = named.flatMap(({ externalId }) => externalId || []);
  const fresh = new Set(
    (await database.for(caller).query(rememberIds({ externalIds }))).map(({ externalId }) => externalId),
  );
  const firsts = new Set(named.filter(({ externalId }) => fresh.delete(externalId)).map(({ row }) => row));
  for (const { row } of readable) {
    if (!firsts.has(row)) reasons.set(row, 'external_id: an earlier row of the file has it');
  }
  const isLast = batch.length === 0;
  let left: readonly HeldRow[] = isLast ? held.splice(0) : readable.filter(({ row }) => firsts.has(row));
  const rowsHere = isLast ? left.map(({ row }) => row) : batch;
  const counts = { created: 0, changed: 0, unchanged: 0 };
  while (left.length > 0) {
    const actor = { actor: [procedure, 'operator', null, '', null], keyId: undefined };
    const rows = left.map(({ given }) => given);
    const written = await writeRows(importing, rows, database, caller, actor);
    const refused = left.filter((_row, index) => written[index]?.isRefused);
    if (refused.length === 0) {
      for (const { outcome } of written) counts[countOf[outcome]] += 1;
      break;
    }
    for (const each of refused) {
      if (importing.pass !== undefined && !isLast && held.length < maxHeld) held.push(each);
      else reasons.set(each.row, reasonOf(importing.refusal?.('')));
    }
    left = left.filter((_row, index) => !written[index]?.isRefused);
  }
  const refused = rowsHere.flatMap((row) => {
    const reason = reasons.get(row);
    return reason === undefined ? [] : [{ row, reason }];
  });
  return { ...counts, refused };
}

const countOf = {
  [ImportOutcome.UNSPECIFIED]: 'unchanged',
  [ImportOutcome.CREATED]: 'created',
  [ImportOutcome.CHANGED]: 'changed',
  [ImportOutcome.UNCHANGED]: 'unchanged',
} as const;

/** The reason of a refusal. Throws any other error. */
function reasonOf(error: unknown): string {
  if (error instanceof ConnectError) return error.rawMessage;
  throw error;
}
