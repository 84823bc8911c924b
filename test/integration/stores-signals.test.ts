import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { refreshStores } from '../../services/slot-service/stores/refresh.ts';
import { StoreReplica } from '../../services/slot-service/stores/replica.ts';
import { Database } from '../../shared/db/database.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { holding } from '../support/locks.ts';
import { readTestConfig } from '../support/service.ts';

describe('A replica of the stores', () => {
  const logger = createLogger('test', 'silent');
  const draining = new AbortController();
  let testDatabase: TestDatabase;
  let database: Database;
  let replica: StoreReplica;

  beforeAll(async () => {
    testDatabase = await createDatabase();
    database = new Database(readTestConfig('slot', { DATABASE_URL: testDatabase.url }).database, logger);
    await refreshStores(database, AbortSignal.timeout(30_000));
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

  it('Many reads leave no listener on the shutdown signal, whether they waited or not', async () => {
    const anySignal = vi.spyOn(AbortSignal, 'any');
    const covered = await request();
    await refreshStores(database, AbortSignal.timeout(30_000));
    replica.load();
    await replica.untilCovers(covered, { signal: AbortSignal.timeout(30_000) });
    const waiting = await request();
    for (let left = 100; left > 0; left -= 1) {
      await replica.untilCovers(covered, { signal: new AbortController().signal });
      const caller = new AbortController();
      const read = replica.untilCovers(waiting, { signal: caller.signal });
      caller.abort(new Error('the caller has left'));
      await expect(read).rejects.toThrow('the caller has left');
    }
    expect(getEventListeners(draining.signal, 'abort')).toHaveLength(1);
    // A signal made by AbortSignal.any lives as long as the signals that it depends on.
    expect(anySignal).not.toHaveBeenCalled();
    anySignal.mockRestore();
  });

  it('A replica loads a version that it could not load at first', async () => {
    await refreshStores(database, AbortSignal.timeout(30_000));
    const asked = await request();
    await refreshStores(database, AbortSignal.timeout(30_000));
    await holding(testDatabase.url, 'lock table store_versions in access exclusive mode', async () => {
      replica.load();
      const waiting = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(() => testDatabase.sql(`select pg_terminate_backend(pid) ${waiting}`)).toHaveLength(1);
    });
    // It tries again without another call of load.
    await replica.untilCovers(asked, { signal: AbortSignal.timeout(30_000) });
  });

  it('Reads that wait for a version fail when the service stops', async () => {
    const read = replica.untilCovers(await request(), { signal: new AbortController().signal });
    draining.abort(new Error('the service stops'));
    await expect(read).rejects.toThrow('the service stops');
  });
});
