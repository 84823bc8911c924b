import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The text of a file of the repository. */
export const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** What the first group of a pattern matches, each time. */
export const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, match = '']) => match);

/** The files below a folder, by their paths in the repository. */
export const filesIn = (folder: string): string[] =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ name, parentPath }) => path.join(path.relative(root, parentPath), name));

/** The files of the source, but for what is generated. */
export const sourceFiles: readonly string[] = ['services', 'shared']
  .flatMap(filesIn)
  .filter((file) => /\.tsx?$/.test(file) && !/^(?:shared\/gen|services\/staff-console\/built)\//.test(file));
