import pg from 'pg';
import { expect, it } from 'vitest';
import { failureOf } from '../support/contract.ts';
import { startProxy } from '../support/proxy.ts';
import { readSequence, updateSequence } from './stores-sequences.ts';
import { Stage } from './stores-stage.ts';
import { createSlot } from './stores-writes.ts';

const timeout = 60_000;

it('An update of a sequence whose answer was lost is read once it is committed, by its own replica too', {
  timeout,
}, async ({ onTestFinished }) => {
  const stage = await Stage.open('PostgreSQL');
  onTestFinished(() => stage.close());
  const url = new URL(stage.database.url);
  const proxy = await startProxy(Number(url.port));
  onTestFinished(() => proxy.cut());
  const direct = url.href;
  url.port = String(proxy.port);
  // Notifications come past the cut.
  const replica = await stage.start({ databaseUrl: url.href, env: { DATABASE_DIRECT_URL: direct } });
  const { slotId } = await createSlot(replica);
  await updateSequence(replica, slotId, 1);
  expect(await readSequence(replica, slotId)).toBe(1);

  const other = new pg.Client({ connectionString: direct });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query('begin');
  await other.query('select from slots where id = $1 for update', [slotId]);
  const updated = failureOf(updateSequence(replica, slotId, 2));
  await expect
    .poll(() =>
      stage.database.sql(`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%update slots%'`),
    )
    .toHaveLength(1);
  await proxy.cut();
  expect((await updated).rawMessage).toBe('The database is unavailable');
  await proxy.mend();

  // The statement waits on in the server, which does not know that nobody does: this read is kept.
  await expect.poll(() => readSequence(replica, slotId).catch(() => 'unavailable')).toBe(1);
  await other.query('commit');
  await expect.poll(() => readSequence(replica, slotId)).toBe(2);
  // An update that is answered keeps its own.
  await updateSequence(replica, slotId, 3);
  await stage.database.sql('update slots set delivery_sequence = $2 where id = $1', [slotId, { 1: [4] }]);
  expect(await readSequence(replica, slotId)).toBe(3);
});
