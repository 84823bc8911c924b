import { getEventListeners } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { refreshStores } from '../../services/slot-service/stores/refresh.ts';
import { StoreReplica } from '../../services/slot-service/stores/replica.ts';
import { readConfig } from '../../shared/config/config.ts';
import { Database } from '../../shared/db/database.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { testSecret } from '../support/tokens.ts';

describe('A replica of the stores', () => {
  const logger = createLogger('test', 'silent');
  const draining = new AbortController();
  let testDatabase: TestDatabase;
  let database: Database;
  let replica: StoreReplica;

  beforeAll(async () => {
    testDatabase = await createDatabase();
    const variables = { DATABASE_URL: testDatabase.url, AUTH_JWT_SECRET: testSecret };
    database = new Database(readConfig('slot', variables).database, logger);
    await refreshStores(database, AbortSignal.timeout(10_000));
    replica = await StoreReplica.open(database, draining.signal, logger);
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.close();
  });

  const request = async () => {
    const [row] = await testDatabase.sql<{ id: string }>(
      'with asked as (insert into store_refresh_requests default values) select store_request_id()::text as id',
    );
    return row?.id ?? '';
  };

  it('leaves no listener on the signal of a stop after many reads, whether they waited or not', async () => {
    const anySignal = vi.spyOn(AbortSignal, 'any');
    const covered = await request();
    await refreshStores(database, AbortSignal.timeout(10_000));
    replica.load();
    await replica.untilCovers(covered, AbortSignal.timeout(10_000));
    const waiting = await request();
    for (let left = 100; left > 0; left -= 1) {
      await replica.untilCovers(covered, new AbortController().signal);
      const caller = new AbortController();
      const read = replica.untilCovers(waiting, caller.signal);
      caller.abort(new Error('the caller has left'));
      await expect(read).rejects.toThrow('the caller has left');
    }
    expect(getEventListeners(draining.signal, 'abort')).toHaveLength(1);
    // One that depends on a signal of the process stays as long as that.
    expect(anySignal).not.toHaveBeenCalled();
    anySignal.mockRestore();
  });

  it('loads a version that it could not load at first', async () => {
    const holder = new pg.Client({ connectionString: testDatabase.url });
    await holder.connect();
    await refreshStores(database, AbortSignal.timeout(10_000));
    const asked = await request();
    await refreshStores(database, AbortSignal.timeout(10_000));
    await holder.query('begin; lock table store_versions in access exclusive mode');
    replica.load();
    const waiting = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(() => testDatabase.sql(`select pg_terminate_backend(pid) ${waiting}`)).toHaveLength(1);
    await holder.end();
    // Nobody asks again.
    await replica.untilCovers(asked, AbortSignal.timeout(10_000));
  });

  it('ends the reads that wait when the service stops', async () => {
    const read = replica.untilCovers(await request(), new AbortController().signal);
    draining.abort(new Error('the service stops'));
    await expect(read).rejects.toThrow('the service stops');
  });
});
