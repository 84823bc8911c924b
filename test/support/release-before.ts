import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Release } from '../../services/dev/release/promised.ts';
import { projectRoot } from '../../services/dev/settings.ts';
import { succeed } from './processes.ts';

/** The last release, as `npm run release` has written it down. */
export async function readReleaseBefore(): Promise<Release> {
  return JSON.parse(await readFile(path.join(projectRoot, 'test/released/release.json'), 'utf8'));
}

/** All releases of the last one's major version, from the first one on. */
export async function readReleases(): Promise<Release['earlier']> {
  const last = await readReleaseBefore();
  return [...last.earlier, last];
}

/** Unpacks the files of a release, by default of the last one, into a folder, which goes with the test. Resolves with the folder. */
export async function checkOutRelease(given?: string): Promise<string> {
  const commit = given ?? (await readReleaseBefore()).commit;
  const folder = await mkdtemp(path.join(tmpdir(), 'release-before-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await succeed('bash', ['-c', `git archive ${commit} | tar -x -C ${folder}`], {}, projectRoot);
  return folder;
}

/** Gives a folder with the files of the last release today's packages, which its `package.json` has to allow. */
export async function linkPackagesOf(folder: string): Promise<void> {
  await symlink(path.join(projectRoot, 'node_modules'), path.join(folder, 'node_modules'));
}

/** Gives a folder with the files of the last release today's schema, which its tests then set up. */
export async function upgradeSchemaOf(folder: string): Promise<void> {
  const migrations = 'shared/db/migrations';
  await cp(path.join(projectRoot, migrations), path.join(folder, migrations), { recursive: true });
}
