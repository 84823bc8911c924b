import { it } from 'vitest';
import { describeBackends, eventually, Stage } from './stores-stage.ts';
import { openSlotIds } from './stores-writes.ts';

const timeout = 90_000;
// The sweep looks every 30 s.
const sweptWithinMs = 40_000;

describeBackends('The sweep', (backend) => {
  it('serves requests that no job was added for', { timeout }, async ({ expect, onTestFinished }) => {
    const stage = await Stage.open(backend);
    onTestFinished(() => stage.close());
    const replicas = await Promise.all([stage.start(), stage.start()]);
    for (let round = 1; round <= 1; round += 1) {
      const [slot] = await stage.database.sql<{ id: number }>(
        `with slot as (
           insert into slots (delivery_time, freeze_time) values (now() + interval '3 d', now() + interval '2 d') returning id
         ), request as (insert into store_refresh_requests default values)
         select id from slot`,
      );
      await eventually(async () => {
        for (const replica of replicas) expect(await openSlotIds(replica)).toContain(slot?.id);
      }, sweptWithinMs);
      expect(await stage.pending()).toBe(0);
    }
  });
});
