import { appendFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectRoot } from '../../services/dev/settings.ts';
import { run } from '../support/processes.ts';

const next = '99.0.0';

describe('npm run release', () => {
  let folder: string;

  const inFolder = async (command: string, ...args: readonly string[]) => {
    const { code, stdout, stderr } = await run(command, args, {}, folder);
    return { code, stdout: stdout.trim(), stderr: stderr.trim() };
  };
  const git = async (...args: readonly string[]) => (await inFolder('git', ...args)).stdout;
  const release = (version: string) => inFolder('npm', 'run', '--silent', 'release', '--', version);
  const read = (file: string) => readFile(path.join(folder, file), 'utf8');

  /** Commits a changelog that has this under "Unreleased". */
  const changeChangelog = async (changes: string) => {
    const changelog = (await read('CHANGELOG.md')).replace(/## Unreleased.*?(?=## \d)/s, '');
    await writeFile(path.join(folder, 'CHANGELOG.md'), changelog.replace(/(?=## \d)/, `## Unreleased\n\n${changes}\n`));
    await git('commit', '--all', '--quiet', '--message', 'Something new');
  };

  const changeVersionReleased = async (version: string) => {
    const file = 'test/released/release.json';
    const released = JSON.stringify({ ...JSON.parse(await read(file)), version });
    await writeFile(path.join(folder, file), released);
    await git('commit', '--all', '--quiet', '--message', 'Another release');
  };

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'release-test-'));
    await run('git', ['clone', '--quiet', projectRoot, folder]);
    await git('switch', '--quiet', '--force-create', 'main');
    await symlink(path.join(projectRoot, 'node_modules'), path.join(folder, 'node_modules'));
    await appendFile(path.join(folder, '.git/info/exclude'), 'node_modules\n');
    await git('config', 'user.name', 'Asha Menon');
    await git('config', 'user.email', 'asha@example.com');
    // Without the tests: this is one of them.
    await inFolder('npm', 'pkg', 'set', 'scripts.check=npm run build && npm run build:client');
    await changeChangelog('### For callers\n\n- Something new.\n');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('A release has a tag, its changes under its version, its artifacts, and what the next one has to keep', async () => {
    const { code, stderr } = await release(next);
    expect(code, stderr).toBe(0);
    expect(await git('log', '--format=%s', '-2')).toBe(`The next release keeps what ${next} promises\nRelease ${next}`);
    expect(await git('rev-list', '-1', `v${next}`)).toBe(await git('rev-parse', 'HEAD^'));
    expect(await git('status', '--porcelain')).toBe('');
    expect(JSON.parse(await read('package.json')).version).toBe(next);
    expect(await read('CHANGELOG.md')).toMatch(
      /\n## 99\.0\.0 \(\d{4}-\d\d-\d\d\)\n\n### For callers\n\n- Something new\.\n/,
    );
    const released = JSON.parse(await read('test/released/release.json'));
    expect(released).toMatchObject({ version: next, commit: await git('rev-parse', `v${next}^{commit}`) });
    expect(Object.keys(released.migrations).length).toBeGreaterThan(20);
    const files = (await inFolder('ls', 'dist/release')).stdout.split('\n');
    const named = ['.binpb', '.cdx.json'].map((ending) => `delivery-admin-${next}${ending}`);
    expect(files).toEqual(expect.arrayContaining([...named, `delivery-admin-client-${next}.tgz`]));
    const breaking = await inFolder('npm', 'run', '--silent', 'check:breaking');
    expect(breaking).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('A release whose checks fail says how to go back, which takes back all of it', async () => {
    await inFolder('npm', 'pkg', 'set', 'scripts.check=false');
    await git('commit', '--all', '--quiet', '--message', 'A check that fails');
    const before = await git('rev-parse', 'HEAD');
    const { code, stderr } = await release(next);
    expect(code).toBe(1);
    const [, undo = ''] = /release: npm run check failed\. To go back: (.*)/.exec(stderr) ?? [];
    expect((await inFolder('sh', '-c', undo)).code).toBe(0);
    expect([await git('rev-parse', 'HEAD'), await git('status', '--porcelain')]).toEqual([before, '']);
  });

  it('A breaking change of the contract after a release is refused', async () => {
    const file = path.join(folder, 'proto/slot/v1/slot_service.proto');
    await writeFile(file, (await readFile(file, 'utf8')).replace('is_active = ', 'is_running = '));
    const { code, stdout } = await inFolder('npm', 'run', '--silent', 'check:breaking');
    expect(code).not.toBe(0);
    expect(stdout).toContain('changed name from "is_active" to "is_running"');
  });

  it.each([
    ['1', 'give the version, such as 1.2.3', async () => undefined],
    ['0.0.9', '0.0.9 is not newer than', async () => undefined],
    [next, `${next} is not newer than ${next}`, () => changeVersionReleased(next)],
    [next, 'switch to the branch main first', () => git('switch', '--quiet', '--create', 'other')],
    [next, `the tag v${next} exists`, () => git('tag', `v${next}`)],
    [next, 'commit or stash your changes first', () => writeFile(path.join(folder, 'new.txt'), '')],
    [next, 'CHANGELOG.md has nothing under "Unreleased"', () => changeChangelog('### For callers\n')],
  ])('A release %s is refused, and changes nothing: %s', async (version, problem, prepare) => {
    await prepare();
    const before = await git('status', '--porcelain');
    const { code, stderr } = await release(version);
    expect(code).toBe(1);
    expect(stderr).toContain(`release: ${problem}`);
    expect(await git('status', '--porcelain')).toBe(before);
  });
});
