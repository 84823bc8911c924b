import { expect, it, onTestFinished } from 'vitest';
import { failureOf } from '../support/contract.ts';
import { holding } from '../support/locks.ts';
import { startDatabaseProxy, viaPort } from '../support/proxy.ts';
import { readSequence, updateSequence } from '../support/sequences.ts';
import { createSlot } from '../support/slot-writes.ts';
import { Stage } from '../support/stage.ts';

it('An update of a sequence whose answer was lost is read once it is committed, by its own replica too', async () => {
  const stage = await Stage.open();
  onTestFinished(() => stage.close());
  const proxy = await startDatabaseProxy();
  onTestFinished(() => proxy.cut());
  // Notifications do not go through the proxy.
  const env = { DATABASE_DIRECT_URL: stage.database.url };
  const replica = await stage.start({ databaseUrl: viaPort(stage.database.url, proxy.port), env });
  const { slotId } = await createSlot(replica);
  await updateSequence(replica, slotId, 1);
  expect(await readSequence(replica, slotId)).toBe(1);

  await holding(stage.database.url, `select from slots where id = ${slotId} for update`, async (lock) => {
    const updated = failureOf(updateSequence(replica, slotId, 2));
    await lock.untilAwaited();
    await proxy.cut();
    expect((await updated).rawMessage).toBe('The database is unavailable');
    await proxy.mend();
    // PostgreSQL does not notice the cut while the statement waits, and runs it later: the cache keeps this read.
    await expect.poll(() => readSequence(replica, slotId).catch(() => 'unavailable')).toBe(1);
  });
  await expect.poll(() => readSequence(replica, slotId)).toBe(2);
  // An update that is answered is kept in the cache, unless the notification of the one before arrives meanwhile.
  const readAfterUpdate = async () => {
    await updateSequence(replica, slotId, 3);
    await stage.database.sql('update slots set delivery_sequence = $2 where id = $1', [slotId, { 1: [4] }]);
    return readSequence(replica, slotId);
  };
  await expect.poll(readAfterUpdate).toBe(3);
});
