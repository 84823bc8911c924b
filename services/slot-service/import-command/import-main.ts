import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { ConnectError } from '@connectrpc/connect';
import { SingleBar } from 'cli-progress';
import { readCallingCode } from '../../../shared/config/business.ts';
import { readDatabase } from '../../../shared/config/database.ts';
import { ConfigError, ConfigErrors } from '../../../shared/config/variables.ts';
import { Database } from '../../../shared/db/database.ts';
import { connectionErrorMessage } from '../../../shared/db/errors.ts';
import { assertMigrated } from '../../../shared/db/schema.ts';
import { createLogger } from '../../../shared/telemetry/logger.ts';
import { createIds, type ImportTarget } from './batch.ts';
import { type FileRow, openRows, type RowFile } from './file.ts';
import { type ImportKind, kinds } from './kinds.ts';

const usage = `usage: import ${[...kinds.keys()].join('|')} FILE    a CSV with a heading, or a JSON object a line; - for standard input`;

/** A batch has at most so many rows, and about so many characters, as a call of ImportService has. */
const maxRows = 1_000;
const maxLength = 100_000;
const statementTimeoutMs = 60_000;
/** So many rows are imported in one transaction at the end. */
const maxHeld = 5_000;

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`import: ${explain(error)}\n`);
  process.exitCode = 1;
}

/** Imports a file. Resolves with the exit code: 1 if a row was refused. */
async function main(): Promise<number> {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [name = '', file = '', ...more] = positionals;
  const kind = kinds.get(name);
  if (kind === undefined || file === '' || more.length > 0) throw new ConfigError(usage);
  const errors = new ConfigErrors();
  const config = readDatabase('import', process.env, errors);
  const callingCode = readCallingCode(process.env, errors);
  errors.throwIfAny();
  const stats = file === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
  if (file !== '-' && stats === undefined) throw new ConfigError(`${file}: there is no such file`);
  if (stats?.isDirectory()) throw new ConfigError(`${file}: is a folder`);
  // A pipe can be read only once.
  const isPiped = !stats?.isFile();
  const folder = await mkdtemp(path.join(tmpdir(), 'import-'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      rmSync(folder, { recursive: true });
      process.exit(1);
    });
  }
  const database = new Database(
    { ...config, url: config.directUrl, poolSize: 1, statementTimeoutMs },
    createLogger('import', 'silent'),
  );
  try {
    // The file is read twice: what can't be taken as a whole is refused before anything is written.
    const copy = path.join(folder, 'input');
    if (isPiped) await pipeline(file === '-' ? process.stdin : createReadStream(file), createWriteStream(copy));
    const rows = await openRows(isPiped ? copy : file, kind.columns);
    const count = await countRows(rows);
    await assertMigrated(database, config.schema);
    const caller = { signal: new AbortController().signal };
    await database.for(caller).query(createIds());
    const rejected = isPiped ? undefined : `${file}.rejected`;
    const { refused, ...counts } = await importRows(
      kind,
      rows,
      count,
      { database, caller, callingCode, held: [], maxHeld },
      rejected,
    );
    const told = Object.entries(counts).map(([outcome, number]) => `${number} ${outcome}`);
    const where = refused > 0 && rejected !== undefined ? `, see ${rejected}` : '';
    process.stdout.write(`${name}: ${told.join(', ')}, ${refused} refused${where}\n`);
    return refused > 0 ? 1 : 0;
  } finally {
    await database.close();
    await rm(folder, { recursive: true });
  }
}

/** Reads the whole file. Throws a `ConfigError` if it can't be taken as a whole. */
async function countRows(file: RowFile): Promise<number> {
  let count = 0;
  for await (const _row of file.rows()) count += 1;
  return count;
}

/**
 * Imports the rows in batches, with a progress bar on a terminal.
 *
 * @param rejected the file that gets the refused rows, if there are any; undefined: standard error gets them.
 * @returns how many rows had each outcome.
 */
async function importRows(
  kind: ImportKind,
  file: RowFile,
  count: number,
  target: ImportTarget,
  rejected: string | undefined,
) {
  const counts = { created: 0, changed: 0, unchanged: 0, refused: 0 };
  const bar = new SingleBar({ format: '{bar} {value} of {total} rows, {eta_formatted} left', clearOnComplete: true });
  const append = async (text: string) => {
    if (rejected !== undefined) await appendFile(rejected, text, { mode: 0o600 });
    else process.stderr.write(text);
  };
  if (rejected !== undefined) await rm(rejected, { force: true });
  bar.start(count, 0);
  try {
    for await (const batch of inBatches(file.rows())) {
      // All rows of a small file are judged together, and its refused rows stay in their order.
      if (batch.length === count) target.maxHeld = 0;
      const { created, changed, unchanged, refused } = await kind.importBatch(batch, target);
      if (refused.length > 0) {
        const lines = refused.map(({ row, reason }) => row.withReason(reason)).join('');
        await append(counts.refused === 0 ? file.heading + lines : lines);
      }
      counts.created += created;
      counts.changed += changed;
      counts.unchanged += unchanged;
      counts.refused += refused.length;
      bar.increment(batch.length);
    }
  } finally {
    bar.stop();
  }
  return counts;
}

async function* inBatches(rows: AsyncIterable<FileRow>): AsyncGenerator<FileRow[]> {
  let batch: FileRow[] = [];
  let length = 0;
  for await (const row of rows) {
    batch.push(row);
    length += row.length;
    if (batch.length < maxRows && length < maxLength) continue;
    yield batch;
    [batch, length] = [[], 0];
  }
  if (batch.length > 0) yield batch;
  yield [];
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  return connectionErrorMessage(error instanceof ConnectError ? (error.cause ?? error) : error);
}
