import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** What a release promises to keep besides its .proto files (docs/promises.md). */
export interface Promised {
  /** The code of each reason of an error. */
  readonly reasons: Readonly<Record<string, string>>;
  /** The default of each variable, in the words of docs/variables.md. */
  readonly variables: Readonly<Record<string, string>>;
  /** The SHA-256 of each migration, in hexadecimal digits. */
  readonly migrations: Readonly<Record<string, string>>;
}

/** A release, as test/released/release.json describes it. */
export interface Release extends Promised {
  readonly version: string;
  /** The id of its commit. */
  readonly commit: string;
  /** The releases of the same major version before it. */
  readonly earlier: readonly Pick<Release, 'version' | 'commit'>[];
}

/** Reads from the files of a project what its release promises. Rejects if a file is missing. */
export async function readPromised(folder: string): Promise<Promised> {
  const [errors, variables] = await Promise.all(
    ['docs/errors.md', 'docs/variables.md'].map((page) => readFile(path.join(folder, page), 'utf8')),
  );
  const migrations = path.join(folder, 'shared/db/migrations');
  const hashes = (await readdir(migrations)).toSorted().map(async (name) => {
    const sql = await readFile(path.join(migrations, name));
    return [name, createHash('sha256').update(sql).digest('hex')] as const;
  });
  return {
    reasons: Object.fromEntries([...rowsOf(errors)].map(([reason, code]) => [unquote(reason), code])),
    variables: Object.fromEntries([...rowsOf(variables)].flatMap(([names, defaults]) => eachVariable(names, defaults))),
    migrations: Object.fromEntries(await Promise.all(hashes)),
  };
}

/** The first two cells of each row of a page's tables whose first cell names something in capitals. */
function* rowsOf(page = ''): Generator<readonly [string, string]> {
  for (const [, first = '', second = ''] of page.matchAll(/^\| (`[A-Z_]+`[^|]*) \| ([^|]*) \|/gm))
    yield [first, second];
}

/** A row has one variable, or several with a default each, or several with one default. */
function eachVariable(names: string, defaults: string): (readonly [string, string])[] {
  const [variables, values] = [names.split(/, | or /), defaults.split(', ')];
  const isOneEach = variables.length === values.length;
  return variables.map((name, index) => [unquote(name), (isOneEach ? values[index] : defaults) ?? '']);
}

const unquote = (cell: string) => cell.replaceAll('`', '');
