import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { findFreePort } from '../../services/dev/ports.ts';
import { chooseAccount } from '../../services/dev/postgres/commands.ts';
import { eventually } from './eventually.ts';
import { PostgresServer, programFolder, queryOnce } from './postgres-server.ts';
import { viaPort } from './proxy.ts';

const haproxyConfig = fileURLToPath(new URL('../../docker/haproxy-postgres.cfg', import.meta.url));

/** Why tests of a PostgreSQL that fails over can't run here; undefined when they can. */
export const noFailover =
  programFolder === undefined
    ? 'no PostgreSQL of Debian, of the package postgresql'
    : spawnSync('haproxy', ['-v']).status === 0
      ? undefined
      : 'no haproxy on the PATH';

/** How a primary goes away: its machine dies, or hangs; or it is stopped, for maintenance. */
export type Fault = 'kill' | 'freeze' | 'stop';

/** A primary and a standby of PostgreSQL behind one address, which leads to the primary. */
export class PostgresCluster {
  /** The address of the primary, whichever server that is. */
  readonly url: string;
  primary: PostgresServer;
  standby: PostgresServer;
  #secondStandby: PostgresServer | undefined;
  readonly #folder: string;
  readonly #pool: pg.Pool;
  readonly #stopProxy: () => Promise<void>;

  private constructor(
    folder: string,
    servers: readonly [PostgresServer, PostgresServer],
    proxy: { readonly port: number; stop(): Promise<void> },
  ) {
    this.#folder = folder;
    [this.primary, this.standby] = servers;
    this.url = viaPort(this.primary.url, proxy.port);
    this.#stopProxy = proxy.stop;
    this.#pool = new pg.Pool({ connectionString: this.url, max: 4 });
    this.#pool.on('error', () => undefined);
  }

  /** Starts both servers, and HAProxy in front of them. The standby is not yet synchronous. */
  static async start(): Promise<PostgresCluster> {
    const folder = await mkdtemp(path.join(tmpdir(), 'failover-test-'));
    // The servers run as another user when this process is root.
    await chmod(folder, 0o755);
    const primary = await PostgresServer.create(folder, 'a', await chooseAccount(folder));
    const standby = await primary.addStandby(folder, 'b');
    const cluster = new PostgresCluster(folder, [primary, standby], await startProxy(primary, standby));
    await eventually(() => cluster.#leadsToPrimary());
    return cluster;
  }

  /** Throws while the address leads to a standby: until HAProxy has asked it, connections go to all servers in turns. */
  async #leadsToPrimary(): Promise<void> {
    const question = 'select where pg_is_in_recovery()';
    const answers = await Promise.all([queryOnce(this.url, question), queryOnce(this.url, question)]);
    if (answers.flat().length > 0) throw new Error('the address leads to a standby');
  }

  /** Runs a statement at the address. */
  async sql<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#pool.query<Row>(text, [...values])).rows;
  }

  /** Makes each commit wait until the standby, too, has written it to disk. Resolves once it has all that was committed before. */
  async waitForStandby(): Promise<void> {
    await this.primary.waitFor('ANY 1 (*)');
    await eventually(async () => {
      const rows = await this.primary.sql(`select from pg_stat_replication where sync_state = 'quorum'`);
      if (rows.length === 0) throw new Error('no standby is synchronous');
    });
    await this.primary.sql(`comment on database postgres is 'has a synchronous standby'`);
  }

  /**
   * Lets the primary go away, and makes the standby the primary.
   *
   * @param beginning is called once the primary is away.
   * @returns how many milliseconds the promotion took.
   */
  async failOver(fault: Fault, beginning: () => void = () => undefined): Promise<number> {
    const { primary, standby } = this;
    await primary[fault]();
    beginning();
    const startedAt = performance.now();
    await standby.promote();
    [this.primary, this.standby] = [standby, primary];
    return Math.round(performance.now() - startedAt);
  }

  /** Takes the server that was the primary back as the standby. */
  async rejoin(): Promise<void> {
    await this.standby.kill();
    await this.standby.follow(this.primary);
  }

  /** Has the standby receive nothing more of what the primary does. */
  async cutReplication(): Promise<void> {
    await this.standby.sql(`alter system set primary_conninfo = ''`);
    await this.standby.sql('select pg_reload_conf()');
    await eventually(async () => {
      const rows = await this.primary.sql('select from pg_stat_replication');
      if (rows.length > 0) throw new Error('the standby receives what the primary does');
    });
  }

  /** Adds a second standby, to which the address never leads. */
  async addStandby(): Promise<void> {
    this.#secondStandby = await this.primary.addStandby(this.#folder, 'c');
  }

  async stop(): Promise<void> {
    await this.#pool.end();
    await this.#stopProxy();
    await Promise.all([this.primary, this.standby, this.#secondStandby].map((server) => server?.kill()));
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function startProxy(a: PostgresServer, b: PostgresServer) {
  const port = await findFreePort();
  const [address, ...servers] = [port, a.port, b.port].map((at) => `127.0.0.1:${at}`);
  const variables = { POSTGRES_ADDRESS: address, POSTGRES_A: servers[0], POSTGRES_B: servers[1] };
  // It stops with this process, however that ends.
  const child = spawn('setpriv', ['--pdeathsig', 'INT', 'haproxy', '-db', '-f', haproxyConfig], {
    stdio: 'ignore',
    env: { ...process.env, ...variables },
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  return { port, stop };
}
