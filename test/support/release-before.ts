import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Release } from '../../services/dev/release/promised.ts';
import { projectRoot } from '../../services/dev/settings.ts';
import { run } from './processes.ts';

/** The last release, as `npm run release` has written it down. */
export async function readReleaseBefore(): Promise<Release> {
  return JSON.parse(await readFile(path.join(projectRoot, 'test/released/release.json'), 'utf8'));
}

/** Unpacks the files of the last release into a folder, which goes with the test. Resolves with the folder. */
export async function checkOutReleaseBefore(): Promise<string> {
  const { commit } = await readReleaseBefore();
  const folder = await mkdtemp(path.join(tmpdir(), 'release-before-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await succeed('bash', ['-c', `git archive ${commit} | tar -x -C ${folder}`]);
  return folder;
}

/**
 * Gives a folder with the files of the last release today's packages and today's schema: its programs and its tests then
 * run as they do after an upgrade of the database. That release's `package.json` has to allow these packages.
 */
export async function upgradeSchemaOf(folder: string): Promise<void> {
  await symlink(path.join(projectRoot, 'node_modules'), path.join(folder, 'node_modules'));
  const migrations = 'shared/db/migrations';
  await cp(path.join(projectRoot, migrations), path.join(folder, migrations), { recursive: true });
}

async function succeed(command: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await run(command, args, {}, projectRoot);
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${stderr}`);
}
