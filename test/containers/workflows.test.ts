import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { run, succeed } from '../support/processes.ts';
import { read, root } from '../support/repository.ts';
import { describeWithEngine } from './engine.ts';

const { steps } = parse(read('.github/workflows/release.yml')).jobs.release;
const commands: string[] = steps.flatMap(({ run }: { readonly run?: string }) => run ?? []);
const { version } = JSON.parse(read('package.json'));

/** What would publish something is written down instead. */
const standIns = {
  gh: `#!/bin/sh
[ "$2" != view ] || exec grep --quiet "gh release create $3 " "$PUBLISHED"
echo "gh $*" >> "$PUBLISHED"\n`,
  docker: `#!/bin/sh
case $1 in
  login | push) echo "docker $*" >> "$PUBLISHED" ;;
  *) PATH=\${PATH#*:} exec docker "$@" ;;
esac\n`,
};

describeWithEngine('The workflow of a release', () => {
  it('The commands of the workflow make the artifacts of a tag on main, and publish the image and each of them once, with its changes', async () => {
    const parent = await mkdtemp(path.join(tmpdir(), 'workflow-test-'));
    onTestFinished(() => rm(parent, { recursive: true, force: true }));
    const [folder, programs, published] = ['clone', 'programs', 'published'].map((name) => path.join(parent, name));
    if (folder === undefined || programs === undefined || published === undefined) throw new Error('no names');
    await succeed('git', ['clone', '--quiet', root, folder]);
    await succeed('git', ['update-ref', 'refs/remotes/origin/main', 'HEAD'], {}, folder);
    await mkdir(programs);
    for (const [name, program] of Object.entries(standIns)) {
      await writeFile(path.join(programs, name), program);
      await chmod(path.join(programs, name), 0o755);
    }
    const env = {
      ...{ PATH: `${programs}:${process.env.PATH}`, PUBLISHED: published, GH_TOKEN: 'a token', OWNER: 'Example' },
      ...{ GITHUB_REF_NAME: `v${version}`, GITHUB_ACTOR: 'asha' },
    };
    const bash = (command = '') => run('bash', ['-e', '-o', 'pipefail', '-c', command], env, folder);
    for (const command of commands) expect(await bash(command)).toMatchObject({ code: 0 });

    const name = `dist/release/delivery-admin-${version}`;
    const files = [
      `${name}.binpb`,
      `${name}.cdx.json`,
      `${name}.tar`,
      `dist/release/delivery-admin-client-${version}.tgz`,
    ];
    expect(await readFile(published, 'utf8')).toBe(
      `docker login ghcr.io --username asha --password-stdin
docker push ghcr.io/example/delivery-admin:${version}
gh release create v${version} ${files.join(' ')} --verify-tag --title v${version} --notes-file dist/notes.md
`,
    );
    const notes = await readFile(path.join(folder, 'dist/notes.md'), 'utf8');
    expect(read('CHANGELOG.md')).toMatch(new RegExp(`## ${version} \\(.*\\)\n`));
    expect(read('CHANGELOG.md').split(`## ${version} (`)[1]).toContain(notes.trim());
    expect(notes).toContain('### For operators');

    // The same tag once more, and one of a commit that is not on main.
    expect(await bash(commands[0])).toMatchObject({ code: 1 });
    await rm(published);
    expect(await bash(commands[0])).toMatchObject({ code: 0 });
    await succeed('git', ['update-ref', 'refs/remotes/origin/main', 'HEAD^'], {}, folder);
    expect(await bash(commands[0])).toMatchObject({ code: 1 });
  });
});
