import pg from 'pg';
import { describe, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { noRedis, noRedisServer, openRedis } from '../support/redis.ts';
import { Replica, type ReplicaOptions } from '../support/replica.ts';

export type Backend = 'PostgreSQL' | 'Redis';

/** Declares the tests for both stores of jobs, which run at the same time. */
export function describeBackends(title: string, tests: (backend: Backend) => void): void {
  describe.concurrent(`${title}, jobs on PostgreSQL`, () => tests('PostgreSQL'));
  describeRedis(title, noRedis, () => tests('Redis'));
}

/** Declares tests that stop Redis. */
export function describeRedisServer(title: string, tests: () => void): void {
  describeRedis(title, noRedisServer, tests);
}

function describeRedis(title: string, missing: string | undefined, tests: () => void): void {
  const reason = missing === undefined ? '' : ` (skipped: ${missing})`;
  const declare = missing === undefined ? describe.concurrent : describe.skip;
  declare(`${title}, jobs on Redis${reason}`, tests);
}

/** A database, a store of jobs, and the replicas that a test starts on them. */
export class Stage {
  readonly database: TestDatabase;
  readonly redisUrl: string | undefined;
  readonly #stopRedis: () => Promise<void>;
  readonly #replicas: Replica[] = [];

  private constructor(database: TestDatabase, redis: { url: string; stop(): Promise<void> } | undefined) {
    this.database = database;
    this.redisUrl = redis?.url;
    this.#stopRedis = async () => redis?.stop();
  }

  static async open(backend: Backend): Promise<Stage> {
    return Stage.on(backend === 'Redis' ? await openRedis() : undefined);
  }

  static async on(redis: { url: string; stop(): Promise<void> } | undefined): Promise<Stage> {
    const database = await createDatabase();
    await database.sql(fixture);
    return new Stage(database, redis);
  }

  async start(options: Partial<ReplicaOptions> = {}): Promise<Replica> {
    const replica = await Replica.start({ databaseUrl: this.database.url, redisUrl: this.redisUrl, ...options });
    this.#replicas.push(replica);
    return replica;
  }

  /** How many requests no refresh has taken. */
  async pending(): Promise<number> {
    const rows = await this.database.sql<{ n: number }>('select count(*)::integer as n from store_refresh_requests');
    return rows[0]?.n ?? 0;
  }

  /** Runs `work` while a transaction of the test's own holds what `lock` takes. */
  async holding<Result>(lock: string, work: (release: () => Promise<void>) => Promise<Result>): Promise<Result> {
    const holder = new pg.Client({ connectionString: this.database.url, application_name: 'test' });
    await holder.connect();
    let ended: Promise<void> | undefined;
    const release = () => {
      ended ??= holder.end();
      return ended;
    };
    try {
      await holder.query(`begin; ${lock}`);
      return await work(release);
    } finally {
      await release();
    }
  }

  /** Waits until a statement of the service waits for a lock. */
  async untilBlocked(application: string, statement = ''): Promise<void> {
    await eventually(async () => {
      const blocked = await this.database.sql(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
         and application_name = $1 and position($2 in query) > 0`,
        [application, statement],
      );
      if (blocked.length === 0) throw new Error(`no statement of ${application} waits for a lock`);
    });
  }

  /** Ends the server's side of a service's connections, so that nothing of a killed process goes on. */
  async disconnect(application: string): Promise<void> {
    await eventually(async () => {
      const left = await this.database.sql(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = $1`,
        [application],
      );
      if (left.length > 0) throw new Error(`${application} is still connected`);
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.kill()));
    await this.#stopRedis();
    await this.database.close();
  }
}

export const fixture = `insert into staff_users (id, name) values (1, 'Asha Menon')`;

/** Tries until it succeeds. */
export function eventually<Result>(attempt: () => Result | Promise<Result>, timeout = 10_000): Promise<Result> {
  return vi.waitFor(attempt, { timeout, interval: 25 });
}
