import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { inject, onTestFinished } from 'vitest';
import { type Account, chooseAccount } from '../../services/dev/postgres/commands.ts';
import { defaultSchema } from '../../shared/config/database.ts';
import { inSession } from '../../shared/config/session.ts';
import { PostgresServer, programFolder, queryOnce } from '../support/postgres-server.ts';
import { Replica, type ReplicaOptions } from '../support/replica.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));

/** The blocks of code of a language under a heading of a page, in their order. */
export function blocksUnder(page: string, heading: string, language: string): string[] {
  const [, section = ''] = read(page).split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block);
}

interface FollowOptions {
  readonly page?: string;
  readonly cwd?: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** What stands in the command, and what is run in its place. */
  readonly instead?: Readonly<Record<string, string>>;
}

/** A deployment of the services on a PostgreSQL of its own, set up and operated by the commands of the documentation. */
export class Deployment {
  readonly server: PostgresServer;
  /** The schema of all tables. */
  readonly schema: string;
  /** The database's URL for the schema's owner, and for the services. */
  readonly urls: { readonly owner: string; readonly service: string };
  /** What the commands of the documentation take from the shell. */
  readonly #variables: Readonly<Record<string, string>>;

  private constructor(server: PostgresServer, folder: string, schema: string) {
    this.server = server;
    this.schema = schema;
    const urlOf = (role: string) =>
      Object.assign(new URL(server.url), { username: role, pathname: '/delivery_admin' }).href;
    this.urls = { owner: urlOf('owner'), service: urlOf('service') };
    this.#variables = {
      ...{ SERVER: server.url, OWNER: this.urls.owner, SERVICE: this.urls.service, DATA: server.folder },
      ...{
        ARCHIVE: path.join(folder, 'archive'),
        BACKUP: path.join(folder, 'backup'),
        DUMP: path.join(folder, 'dump'),
        DATABASE_SCHEMA: schema,
        PGOPTIONS: `-c search_path=${schema}`,
      },
    };
  }

  /** Starts a PostgreSQL with the empty database and its owner, in a folder that also has the archive and backups. */
  static async create(
    folder: string,
    name: string,
    schema = defaultSchema,
    furtherSettings: readonly string[] = [],
  ): Promise<Deployment> {
    const [settings = ''] = blocksUnder('docs/recovery.md', 'A point in time', 'ini');
    const account = await chooseAccount(folder);
    const server = await PostgresServer.create(folder, name, account, [
      settings.replaceAll('/archive', path.join(folder, 'archive')),
      ...furtherSettings,
    ]);
    onTestFinished(() => server.kill());
    const [roles = ''] = blocksUnder('docs/deploying.md', 'In production', 'sql');
    for (const statement of roles.split('\n').filter(Boolean)) {
      await server.sql(statement.replace('...', decodeURIComponent(new URL(server.url).password)));
    }
    return new Deployment(server, folder, schema);
  }

  /** Runs a command of docs/recovery.md, or another page: the one at an index under a heading. Resolves with what it prints. */
  async follow(heading: string, index = 0, options: FollowOptions = {}) {
    const { page = 'docs/recovery.md', cwd = '/' } = options;
    const [command = ''] = blocksUnder(page, heading, 'sh').slice(index);
    const program = inject('programFolder');
    const script = command.replace(/npm run (?:--silent )?([\w:]+)/g, (_all, name) =>
      (scripts[name] ?? '').replace(/^.*exec node dist/, `node ${program}`),
    );
    const adapted = Object.entries(options.instead ?? {}).reduce(
      (text, [stands, runs]) => text.replaceAll(stands, runs),
      script,
    );
    const env = {
      ...process.env,
      PATH: `${programFolder}:${process.env.PATH}`,
      ...this.#variables,
      ...options.variables,
    };
    // Only PostgreSQL's own account can read its data.
    const own: Partial<Account> = /\$DATA|\$BACKUP/.test(command) ? { ...this.server.account } : {};
    const { stdout } = await promisify(execFile)('sh', ['-ec', adapted], { cwd, env, ...own });
    return stdout;
  }

  /** Starts a service that ends with the test. */
  async start(service: 'slot' | 'coupon', options: Partial<ReplicaOptions> = {}): Promise<Replica> {
    const env = { DATABASE_SCHEMA: this.schema };
    const replica = await Replica.start({ databaseUrl: this.urls.service, service, env, ...options });
    onTestFinished(() => replica.kill());
    return replica;
  }

  /** PostgreSQL's time, as a moment to recover to. */
  async now(): Promise<string> {
    const [row] = await this.sql<{ at: string }>('select now()::text as at');
    return row?.at ?? '';
  }

  /** Runs a statement as the owner of the schema. */
  sql<Row extends Record<string, unknown>>(text: string): Promise<Row[]> {
    return queryOnce<Row>(inSession(this.urls.owner, this.schema), text);
  }
}

/** A folder of the test's with an empty archive, both of which PostgreSQL's account may write. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'recovery-test-'));
  await mkdir(path.join(folder, 'archive'));
  for (const each of [folder, path.join(folder, 'archive')]) await chmod(each, 0o777);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
