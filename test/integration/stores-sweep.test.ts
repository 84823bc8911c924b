import { it } from 'vitest';
import { describeBackends, eventually, Stage } from './stores-stage.ts';
import { createSlot, openSlotIds, readCovering } from './stores-writes.ts';

const timeout = 90_000;
// The sweep looks every 30 s.
const sweptWithinMs = 40_000;

describeBackends('The sweep', (backend) => {
  it('serves requests that no job was added for', { timeout }, async ({ expect, onTestFinished }) => {
    const stage = await Stage.open(backend);
    onTestFinished(() => stage.close());
    const replicas = await Promise.all([stage.start(), stage.start()]);
    // The first run of all, and that of this write, are over.
    for (const replica of replicas) await readCovering(replica, await createSlot(replica), 10_000);
    const [slot] = await stage.database.sql<{ id: number }>(
      `with request as (insert into store_refresh_requests default values)
       insert into slots (delivery_time, freeze_time) values (now() + interval '3 d', now() + interval '2 d') returning id`,
    );
    await eventually(async () => {
      for (const replica of replicas) expect(await openSlotIds(replica)).toContain(slot?.id);
    }, sweptWithinMs);
    expect(await stage.pending()).toBe(0);
  });
});
