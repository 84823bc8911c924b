import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from './settings.ts';

const folder = path.join(projectRoot, 'services', 'staff-console');
const config = path.join(folder, 'vite.config.ts');
const built = path.join(folder, 'built');
/** The sources of the page. */
const sources = [
  config,
  path.join(folder, 'page'),
  path.join(projectRoot, 'shared', 'gen'),
  path.join(projectRoot, 'package-lock.json'),
];

/**
 * Builds the staff console's page into a folder. The build runs in its own process, because NODE_ENV must be
 * `production`: under another one, such as a test's, it would be a development build, which is larger and slower.
 */
export async function buildConsolePage(outDir: string): Promise<void> {
  const vite = path.join(projectRoot, 'node_modules', '.bin', 'vite');
  const args = ['build', '-c', config, '--outDir', outDir, '--logLevel', 'warn'];
  await promisify(execFile)(vite, args, { cwd: projectRoot, env: { ...process.env, NODE_ENV: 'production' } });
}

/**
 * Builds the page where the console's server expects it, unless the build is newer than the sources.
 *
 * @param tell is told when a build begins.
 */
export async function keepConsolePageBuilt(tell: (text: string) => void): Promise<void> {
  const [builtAt, changedAt] = await Promise.all([changeTime(path.join(built, 'index.html')), newestChange(sources)]);
  if (builtAt > changedAt) return;
  tell('Building the page of the staff console...');
  await buildConsolePage(built);
}

async function newestChange(paths: readonly string[]): Promise<number> {
  const times = paths.map(async (root) => {
    const names = await readdir(root, { recursive: true }).catch(() => []);
    return Math.max(...(await Promise.all(['', ...names].map((name) => changeTime(path.join(root, name))))));
  });
  return Math.max(...(await Promise.all(times)));
}

/** Returns the time of the last change in Unix ms; 0 if there is no such file. */
async function changeTime(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
