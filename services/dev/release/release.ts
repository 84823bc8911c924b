import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../settings.ts';
import { artifactsOf, makeArtifacts, run } from './artifacts.ts';
import { type Release, readPromised } from './promised.ts';

// Makes a release of what is committed: CONTRIBUTING.md tells what it does. It needs no network unless npm or Docker have
// to fetch what the checks and the image are made of. It publishes nothing.

const branch = 'main';
const [version = ''] = process.argv.slice(2);
const tag = `v${version}`;
const { client, contract, image, imageFile } = artifactsOf(version);
const inRoot = (file: string) => path.join(projectRoot, file);
const read = (file: string) => readFileSync(inRoot(file), 'utf8');
const last: Release = JSON.parse(read('test/released/release.json'));

const problem = findProblem();
if (problem !== undefined) fail(problem);
let undo = `git reset --hard ${capture('git', 'rev-parse', 'HEAD')}`;
try {
  writeVersion();
  run('npm', 'run', 'check');
  makeArtifacts(version);
  await commit();
  process.stdout.write(`${report(existsSync(inRoot(imageFile))).join('\n')}\n`);
} catch (error) {
  fail(`${error instanceof Error ? error.message : String(error)}. To go back: ${undo}`);
}

/** What keeps the version from being released. */
function findProblem(): string | undefined {
  if (!/^\d+\.\d+\.\d+$/.test(version)) return 'give the version, such as 1.2.3';
  if (last.version.localeCompare(version, 'en', { numeric: true }) >= 0)
    return `${version} is not newer than ${last.version}`;
  if (capture('git', 'branch', '--show-current') !== branch) return `switch to the branch ${branch} first`;
  if (capture('git', 'status', '--porcelain') !== '') return 'commit or stash your changes first';
  if (capture('git', 'tag', '--list', tag) !== '') return `the tag ${tag} exists`;
  const [, unreleased = ''] = /^## Unreleased\n(.*?)^## /ms.exec(read('CHANGELOG.md')) ?? [];
  return /^[^#\s]/m.test(unreleased) ? undefined : 'CHANGELOG.md has nothing under "Unreleased"';
}

function writeVersion(): void {
  const today = new Date().toISOString().slice(0, 10);
  const changelog = read('CHANGELOG.md').replace('## Unreleased', `## ${version} (${today})`);
  writeFileSync(inRoot('CHANGELOG.md'), changelog);
  // A major version may have been set with the first breaking migration.
  run('npm', 'version', '--no-git-tag-version', '--allow-same-version', version);
}

/** Commits and tags the release, and then what the next one has to keep. */
async function commit(): Promise<void> {
  run('git', 'commit', '--all', '--quiet', '--message', `Release ${version}`);
  run('git', 'tag', '--annotate', '--message', `Release ${version}`, tag);
  undo += ` && git tag --delete ${tag}`;
  const promised = await readPromised(projectRoot);
  const before = [...last.earlier, { version: last.version, commit: last.commit }];
  const earlier = before.filter((each) => majorOf(each.version) === majorOf(version));
  const release: Release = { version, commit: capture('git', 'rev-parse', 'HEAD'), earlier, ...promised };
  writeFileSync(inRoot('test/released/release.json'), `${JSON.stringify(release, null, 2)}\n`);
  copyFileSync(inRoot(contract), inRoot('test/released/contract.binpb'));
  run('git', 'commit', '--all', '--quiet', '--message', `The next release keeps what ${version} promises`);
}

function majorOf(of: string): string | undefined {
  return of.split('.', 1)[0];
}

function report(hasImage: boolean): readonly string[] {
  return [
    `Released ${version}: the tag ${tag}, and in ${path.dirname(client)} the SBOM, the client package and the .proto image.`,
    hasImage ? `The image is ${image}, also in ${imageFile}.` : 'No Docker engine answers: the image was not built.',
    'To publish:',
    `  git push --atomic origin ${branch} ${tag}`,
    `If the push is refused: ${undo}`,
    'GitHub then tests the tag, and publishes the image and the artifacts. When it has:',
    `  npm publish ${client}`,
    ...(hasImage
      ? ['Without GitHub:', `  docker tag ${image} REGISTRY/${image} && docker push REGISTRY/${image}`]
      : []),
  ];
}

/** What a command prints. Throws if it fails. */
function capture(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { cwd: projectRoot, encoding: 'utf8' }).trim();
}

function fail(problem: string): never {
  process.stderr.write(`release: ${problem}\n`);
  process.exit(1);
}
