import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { asServiceRole } from '../support/postgres.ts';
import { type Outcome, run } from '../support/processes.ts';
import { testSecret } from '../support/tokens.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFile(path.join(root, file), 'utf8');
const [dockerfile, compose, ignored] = await Promise.all(
  ['Dockerfile', 'docker-compose.yml', '.dockerignore'].map(read),
);
const matches = (text = '', pattern: RegExp) => [...text.matchAll(pattern)].map(([, match = '']) => match);

/** The contents of the image, built as the Dockerfile says, which run without a container engine. */
class Image {
  readonly #folder: string;
  readonly #app: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#app = path.join(folder, 'app');
  }

  static async open(): Promise<Image> {
    return new Image(await mkdtemp(path.join(tmpdir(), 'image-test-')));
  }

  async build(): Promise<void> {
    const context = path.join(this.#folder, 'build');
    const left = new Set(matches(ignored, /^(.+)$/gm));
    await cp(root, context, { recursive: true, filter: (file) => !left.has(path.relative(root, file)) });
    await symlink(path.join(root, 'node_modules'), path.join(context, 'node_modules'));
    const [command = 'false'] = matches(dockerfile, /^RUN (npm run build) && npm prune --omit=dev\b/gm);
    const built = await run('sh', ['-c', command], {}, context);
    if (built.code !== 0) throw new Error(`the image was not built: ${built.stdout}${built.stderr}`);
    await mkdir(this.#app);
    for (const name of matches(dockerfile, /^COPY --from=build \/app\/(\S+) /gm)) {
      const to = path.join(this.#app, name);
      if (name === 'node_modules') await linkProductionPackages(to);
      else await cp(path.join(context, name), to, { recursive: true });
    }
  }

  /** Runs a command in the image to its end. */
  run([command = 'false', ...args]: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
    return run(command, args, env, this.#app);
  }

  /** Starts a service by its command. */
  start([command = 'false', ...args]: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
    return spawn(command, args, {
      cwd: this.#app,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }
}

/** Links the packages that `npm prune --omit=dev` leaves. */
async function linkProductionPackages(folder: string): Promise<void> {
  const { packages }: { packages: Record<string, { dev?: boolean }> } = JSON.parse(await read('package-lock.json'));
  for (const [location, { dev }] of Object.entries(packages)) {
    const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(location) ?? [];
    if (name === undefined || dev) continue;
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await symlink(path.join(root, location), path.join(folder, name));
  }
}

/** The command in docker-compose.yml that runs a program, such as `slot-service`. */
function commandOf(program: string): string[] {
  const command = matches(compose, /^ +command: \[(node, .*)\]$/gm).find((candidate) => candidate.includes(program));
  return command?.split(', ') ?? [];
}

describe('The contents of the image', () => {
  let image: Image;
  let database: TestDatabase;
  beforeAll(async () => {
    [image, database] = await Promise.all([Image.open(), createDatabase()]);
    await image.build();
  });
  afterAll(async () => {
    await image.remove();
    await database.close();
  });

  it('The image migrates an empty database', async () => {
    await database.sql('drop schema public cascade; drop schema bullmq cascade; create schema public');
    const env = { DATABASE_URL: database.url, SERVICE_DATABASE_URL: asServiceRole(database.url) };
    const { code, stdout, stderr } = await image.run(commandOf('migrate'), env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^applied 0001_schema\n[\s\S]*\ngranted to service\n$/);
    expect(await database.sql('select from slots')).toEqual([]);
    expect((await image.run(commandOf('migrate'), env)).stdout).toBe('nothing to migrate\ngranted to service\n');
  });

  it('The image adds the first staff user', async () => {
    const env = { DATABASE_URL: database.url };
    const { stdout } = await image.run(['node', 'dist/shared/auth/staff-main.js', 'add', 'Asha'], env);
    expect(stdout).toBe('1\tactive\tAsha\n');
  });

  it('The role of the services may read and write rows, but not change the schema or the staff', async () => {
    const service = new pg.Client({ connectionString: asServiceRole(database.url) });
    await service.connect();
    onTestFinished(() => service.end());
    await service.query('select from staff_users');
    for (const statement of [
      ...['alter table slots add column x integer', 'drop table slots', 'truncate slots', 'create table x ()'],
      ...['create schema x', 'alter function store_request_id() cost 1'],
      ...[`insert into staff_users (name) values ('Mallory')`, `update staff_users set name = 'Mallory'`],
      ...[`insert into schema_migrations (name, run_on) values ('x', now())`, 'create table bullmq.x ()'],
    ]) {
      await expect(service.query(statement), statement).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('The migration refuses to give the services the role that owns the schema', async () => {
    const env = { DATABASE_URL: database.url, SERVICE_DATABASE_URL: database.url };
    const { code, stderr } = await image.run(commandOf('migrate'), env);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'migrate: SERVICE_DATABASE_URL must name another role than DATABASE_URL, and no superuser\n',
    });
  });

  it.each([
    ['slot-service', 'SLOT', 8051],
    ['coupon-service', 'COUPON', 8052],
  ])(
    'The image serves as %s, whose health check sees when it is ready and when it stops',
    async (name, prefix, port) => {
      const service = image.start(commandOf(name), {
        DATABASE_URL: asServiceRole(database.url),
        AUTH_JWT_SECRET: testSecret,
        [`${prefix}_GRPC_PORT`]: '0',
        [`${prefix}_WEB_PORT`]: '0',
        DRAIN_MS: '600000',
      });
      void endWithTest(service);
      const webPort = await servingOn(service);
      const health = async () => (await image.run(healthCheckOf(port, webPort))).code;
      expect(await health()).toBe(0);
      service.kill('SIGTERM');
      await expect.poll(health).toBe(1);
      expect(service.exitCode).toBeNull();
    },
  );

  it('The image serves the page of the console, without a database, and its health check sees that', async () => {
    const running = image.start(commandOf('staff-console'), { CONSOLE_PORT: '0' });
    const ended = endWithTest(running);
    const port = await servingOn(running);
    const health = async () => (await image.run(healthCheckOf(8050, port))).code;
    expect(await health()).toBe(0);
    const page = await (await fetch(`http://127.0.0.1:${port}/slots`)).text();
    const assets = matches(page, /(?:src|href)="(\/assets\/[^"]+)"/g);
    expect(assets.length).toBeGreaterThan(1);
    for (const asset of assets) expect((await fetch(`http://127.0.0.1:${port}${asset}`)).status, asset).toBe(200);
    running.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(await health()).toBe(1);
  });
});

/** The health check in docker-compose.yml of the container with a port, asking the one that is used here. */
function healthCheckOf(port: number, used: number): string[] {
  const [check = ''] = matches(compose, new RegExp(`^ +"(fetch\\('http://127\\.0\\.0\\.1:${port}/.*)",$`, 'gm'));
  return ['node', '-e', check.replace(`:${port}/`, `:${used}/`)];
}

/** Ends a process with the test that started it, and resolves with its exit code and signal. */
function endWithTest(child: ChildProcess): Promise<unknown[]> {
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return ended;
}

/** Resolves with the web port that a service logs, or the console's only one; rejects when the service ends before. */
async function servingOn({ stdout }: ChildProcess): Promise<number> {
  if (stdout === null) throw new Error('the output of the service is not piped');
  for await (const line of createInterface({ input: stdout })) {
    const { msg, webPort, port = webPort } = JSON.parse(line);
    // The rest is not read, which must not stop the service.
    if (msg === 'serving') return Number(port);
  }
  throw new Error('the service ended before it served');
}
