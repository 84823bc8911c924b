import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'vite';
import { projectRoot } from './settings.ts';

const folder = path.join(projectRoot, 'services', 'staff-console');
const built = path.join(folder, 'built', 'index.html');
/** What the page is built from. */
const sources = [
  path.join(folder, 'page'),
  path.join(projectRoot, 'shared', 'gen'),
  path.join(projectRoot, 'package-lock.json'),
];

/** Builds the page of the staff console, unless it has been built since its sources have changed. */
export async function buildConsolePage(): Promise<void> {
  const [builtAt, changedAt] = await Promise.all([changeTime(built), newestChange(sources)]);
  if (builtAt > changedAt) return;
  await build({ configFile: path.join(folder, 'vite.config.ts'), logLevel: 'error' });
}

async function newestChange(paths: readonly string[]): Promise<number> {
  const times = paths.map(async (root) => {
    const names = await readdir(root, { recursive: true }).catch(() => []);
    return Math.max(...(await Promise.all(['', ...names].map((name) => changeTime(path.join(root, name))))));
  });
  return Math.max(...(await Promise.all(times)));
}

/** In Unix ms; 0 if there is no such file. */
async function changeTime(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
