import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { compose, describeWithEngine, docker } from './engine.ts';

// Compose looks at all variables of its file, also for a build.
const names = ['POSTGRES_PASSWORD', 'SERVICE_PASSWORD', 'REDIS_PASSWORD'];
const env = Object.fromEntries(names.map((name) => [name, 'unused']));
const maxMegabytes = 160;

describeWithEngine('The image that docker compose builds', () => {
  let files: string[];
  let packages: string[];

  /** Evaluates an expression in a container. */
  const evaluate = async (expression: string) =>
    JSON.parse(await docker('run', '--rm', 'delivery-admin', 'node', '-p', `JSON.stringify(${expression})`));

  beforeAll(async () => {
    await compose(['build'], env);
    const folders = `fs.readdirSync('/').filter((name) => !['dev', 'proc', 'sys'].includes(name))`;
    const list = `fs.readdirSync('/' + folder, { recursive: true, withFileTypes: true })`;
    files = await evaluate(
      `${folders}.flatMap((folder) => folder === 'app' || folder.startsWith('.') ? [] :
         ${list}.filter((file) => !file.isDirectory()).map((file) => path.join(file.parentPath, file.name)))`,
    );
    packages = await evaluate(
      `fs.readdirSync('node_modules').flatMap((name) => name.startsWith('@') ?
         fs.readdirSync('node_modules/' + name).map((inside) => name + '/' + inside) : [name])`,
    );
  });

  it('The image has Node and its libraries beside the program: no shell, no package manager and no compiler', () => {
    const system = files.filter(
      (file) => !/^\/lib(?:64)?\/(?:[\w-]+\/)?(?:ld-linux[\w-]*|lib\w+(?:\+\+)?)\.so\.\d$/.test(file),
    );
    // The last four are Docker's.
    const dockers = ['/etc/hostname', '/etc/hosts', '/etc/mtab', '/etc/resolv.conf'];
    expect(system.toSorted()).toEqual(['/etc/group', ...dockers, '/etc/passwd', '/usr/local/bin/node'].toSorted());
    expect(files.length).toBeLessThan(20);
  });

  it('The image has no package that only the development needs, and no file that only editors, debuggers or the tests of packages read', async () => {
    const lock: { packages: Record<string, { dev?: boolean }> } = JSON.parse(
      await readFile('package-lock.json', 'utf8'),
    );
    const ofDevelopment = Object.entries(lock.packages)
      .filter(([, { dev }]) => dev)
      .map(([location]) => location.replace(/^node_modules\//, ''));
    expect(ofDevelopment).toContain('typescript');
    expect(packages).toContain('pg');
    expect(packages.filter((name) => ofDevelopment.includes(name))).toEqual([]);
    const read = `fs.readdirSync('node_modules', { recursive: true }).filter((name) => /\\.(map|[cm]?ts)$/.test(name))`;
    expect(await evaluate(read)).toEqual([]);
    const tests = `fs.readdirSync('node_modules', { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile() && /\\/test(data)?(\\/|$)/.test(file.parentPath)).map(({ name }) => name)`;
    expect(await evaluate(tests)).toEqual([]);
  });

  it('The image does not say from where its packages came', async () => {
    const settings = `fs.readdirSync('/app', { recursive: true }).filter((name) => /(^|\\/)\\.?npmrc$/.test(name))`;
    expect(await evaluate(settings)).toEqual([]);
    expect(await evaluate(`/"resolved":/.test(fs.readFileSync('node_modules/.package-lock.json', 'utf8'))`)).toBe(
      false,
    );
    expect(await docker('history', '--no-trunc', '--format', '{{.CreatedBy}}', 'delivery-admin')).not.toMatch(
      /https?:/,
    );
  });

  it('The image runs as a user that is not root, by a number', async () => {
    expect(await docker('image', 'inspect', '--format', '{{.Config.User}}', 'delivery-admin')).toBe('1000:1000');
    expect(await evaluate('[process.getuid(), process.getgid(), os.userInfo().username]')).toEqual([
      1000,
      1000,
      'node',
    ]);
  });

  it(`The image is smaller than ${maxMegabytes} MB`, async () => {
    const bytes = Number(await docker('image', 'inspect', '--format', '{{.Size}}', 'delivery-admin'));
    console.log(`the image has ${Math.round(bytes / 1e6)} MB`);
    expect(bytes / 1e6).toBeLessThan(maxMegabytes);
  });
});
