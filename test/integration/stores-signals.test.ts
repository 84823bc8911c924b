import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { refreshStores } from '../../services/slot-service/stores/refresh.ts';
import { StoreReplica } from '../../services/slot-service/stores/replica.ts';
import { readConfig } from '../../shared/config/config.ts';
import { Database } from '../../shared/db/database.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { testSecret } from '../support/tokens.ts';

describe('The signal of a stop', () => {
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

  it('has no more listeners after many reads, whether they waited or not', async () => {
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

  it('ends the reads that wait', async () => {
    const read = replica.untilCovers(await request(), new AbortController().signal);
    draining.abort(new Error('the service stops'));
    await expect(read).rejects.toThrow('the service stops');
  });
});
