import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from './settings.ts';

const folder = path.join(projectRoot, 'services', 'staff-console');
const config = path.join(folder, 'vite.config.ts');
const built = path.join(folder, 'built');
/** What the page is built from. */
const sources = [
  config,
  path.join(folder, 'page'),
  path.join(projectRoot, 'shared', 'gen'),
  path.join(projectRoot, 'package-lock.json'),
];

/**
 * Builds the page of the staff console into a folder, in a process of its own: in one whose NODE_ENV is another, such as that of a
 * test, it would become a page for development, which is larger and slower.
 */
export async function buildConsolePage(outDir: string): Promise<void> {
  const vite = path.join(projectRoot, 'node_modules', '.bin', 'vite');
  const args = ['build', '-c', config, '--outDir', outDir, '--logLevel', 'warn'];
  await promisify(execFile)(vite, args, { cwd: projectRoot, env: { ...process.env, NODE_ENV: 'production' } });
}

/** Builds the page where the console's server looks for it, unless it has been built since its sources have changed. */
export async function keepConsolePageBuilt(): Promise<void> {
  const [builtAt, changedAt] = await Promise.all([changeTime(path.join(built, 'index.html')), newestChange(sources)]);
  if (builtAt <= changedAt) await buildConsolePage(built);
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
