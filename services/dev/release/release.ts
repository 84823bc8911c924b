import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../settings.ts';
import { type Release, readPromised } from './promised.ts';

// Makes a release of what is committed: CONTRIBUTING.md tells what it does. It needs no network unless npm or Docker have
// to fetch what the checks and the image are made of. It publishes nothing.

const changelog = path.join(projectRoot, 'CHANGELOG.md');
const released = path.join(projectRoot, 'test/released');
const artifacts = path.join(projectRoot, 'dist/release');
const branch = 'main';
const [version = ''] = process.argv.slice(2);
const tag = `v${version}`;
let undo = 'git restore .';
const read = (file: string) => readFileSync(path.join(projectRoot, file), 'utf8');

const problem = findProblem();
if (problem !== undefined) {
  process.stderr.write(`release: ${problem}\n`);
  process.exit(1);
}

const today = new Date().toISOString().slice(0, 10);
writeFileSync(changelog, read('CHANGELOG.md').replace('## Unreleased', `## ${version} (${today})`));
run('npm', 'version', '--no-git-tag-version', version);
run('npm', 'run', 'check');

rmSync(artifacts, { recursive: true, force: true });
mkdirSync(artifacts, { recursive: true });
const inArtifacts = (ending: string) => path.join(artifacts, `delivery-admin-${version}${ending}`);
// The checks have built all but the image.
copyFileSync(path.join(projectRoot, 'dist/sbom.cdx.json'), inArtifacts('.cdx.json'));
const client = `delivery-admin-client-${version}.tgz`;
copyFileSync(path.join(projectRoot, 'dist/client', client), path.join(artifacts, client));
run('npx', 'buf', 'build', '--exclude-source-info', '--output', inArtifacts('.binpb'));
const image = `delivery-admin:${version}`;
const hasDocker = spawnSync('docker', ['version'], { stdio: 'ignore' }).status === 0;
if (hasDocker) {
  run('docker', 'build', '--label', `org.opencontainers.image.version=${version}`, '--tag', image, '.');
  run('docker', 'save', '--output', inArtifacts('.tar'), image);
}

const promised = await readPromised(projectRoot);

// Last, so that whatever fails before leaves only changes of files to take back.
undo = `git reset --hard ${capture('git', 'rev-parse', 'HEAD')} && git tag --delete ${tag}`;
run('git', 'commit', '--all', '--quiet', '--message', `Release ${version}`);
run('git', 'tag', '--annotate', '--message', `Release ${version}`, tag);
const commit = capture('git', 'rev-parse', 'HEAD');

// From here on the next release has to keep what this one promises.
const release: Release = { version, commit, ...promised };
writeFileSync(path.join(released, 'release.json'), `${JSON.stringify(release, null, 2)}\n`);
copyFileSync(inArtifacts('.binpb'), path.join(released, 'contract.binpb'));
run('git', 'commit', '--all', '--quiet', '--message', `The next release keeps what ${version} promises`);

const lines = [
  `Released ${version}: the tag ${tag}, and in dist/release the SBOM, the client package and the .proto image.`,
  hasDocker ? `The image is ${image}, also in dist/release.` : 'No Docker engine answers: the image was not built.',
  'To publish:',
  `  git push --atomic origin ${branch} ${tag} && npm publish dist/release/${client}`,
  ...(hasDocker ? [`  docker tag ${image} REGISTRY/${image} && docker push REGISTRY/${image}`] : []),
];
process.stdout.write(`${lines.join('\n')}\n`);

/** What keeps the version from being released. */
function findProblem(): string | undefined {
  if (!/^\d+\.\d+\.\d+$/.test(version)) return 'give the version, such as 1.2.3';
  for (const file of ['package.json', 'test/released/release.json']) {
    const last: string = JSON.parse(read(file)).version;
    if (last.localeCompare(version, 'en', { numeric: true }) >= 0) return `${version} is not newer than ${last}`;
  }
  if (capture('git', 'branch', '--show-current') !== branch) return `switch to the branch ${branch} first`;
  if (capture('git', 'status', '--porcelain') !== '') return 'commit or stash your changes first';
  if (capture('git', 'tag', '--list', tag) !== '') return `the tag ${tag} exists`;
  if (!/^## Unreleased\n+[^#\s]|^## Unreleased\n+### /m.test(read('CHANGELOG.md'))) {
    return 'CHANGELOG.md has nothing under "Unreleased"';
  }
  return undefined;
}

/** Runs a command, and shows what it prints. Ends this program if it fails, and says how to take back what was done. */
function run(command: string, ...args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: projectRoot, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status === 0) return;
  process.stderr.write(`release: ${command} ${args.join(' ')} failed. To go back: ${undo}\n`);
  process.exit(1);
}

/** What a command prints. Throws if it fails. */
function capture(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { cwd: projectRoot, encoding: 'utf8' }).trim();
}
