import { describe } from 'vitest';
import { createDatabase, type TestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { noRedis, noRedisServer, openRedis } from './redis.ts';
import { Replica, type ReplicaOptions } from './replica.ts';

/** Where BullMQ keeps its jobs. */
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

/** A database with staff user 1, a store of jobs, and the replicas that a test starts on them. */
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

  static async open(backend: Backend = 'PostgreSQL'): Promise<Stage> {
    return Stage.on(backend === 'Redis' ? await openRedis() : undefined);
  }

  static async on(redis: { url: string; stop(): Promise<void> } | undefined): Promise<Stage> {
    const database = await createDatabase();
    await database.sql(insertStaffUser);
    return new Stage(database, redis);
  }

  async start(options: Partial<ReplicaOptions> = {}): Promise<Replica> {
    const replica = await Replica.start({ databaseUrl: this.database.url, redisUrl: this.redisUrl, ...options });
    this.#replicas.push(replica);
    return replica;
  }

  /** The number of refresh requests that no refresh has taken. */
  async pending(): Promise<number> {
    const rows = await this.database.sql<{ n: number }>('select count(*)::integer as n from store_refresh_requests');
    return rows[0]?.n ?? 0;
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

export const insertStaffUser = `insert into staff_users (id, name) values (1, 'Asha Menon')`;
