import { it } from 'vitest';
import { createSlot, openSlotIds, readCovering } from '../support/slot-writes.ts';
import { describeBackends, Stage } from '../support/stage.ts';

// A request is overdue after some 8 s, and the sweep looks every 5 s.
const sweptWithinMs = 30_000;

describeBackends('The sweep', (backend) => {
  it('The sweep serves refresh requests that have no job', async ({ expect, onTestFinished }) => {
    const stage = await Stage.open(backend);
    onTestFinished(() => stage.close());
    const replicas = await Promise.all([stage.start(), stage.start()]);
    // The first sweep and the jobs of these writes are over.
    for (const replica of replicas) await readCovering(replica, await createSlot(replica), 30_000);
    const [slot] = await stage.database.sql<{ id: number }>(
      `with request as (insert into store_refresh_requests default values)
       insert into slots (delivery_time, freeze_time) values (now() + interval '3 d', now() + interval '2 d') returning id`,
    );
    for (const replica of replicas) {
      await expect.poll(() => openSlotIds(replica), { timeout: sweptWithinMs }).toContain(slot?.id);
    }
    expect(await stage.pending()).toBe(0);
  });
});
