import type { Socket } from 'node:net';
import { inject, it, type TestContext } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { viaPort } from '../support/proxy.ts';
import { startRelay } from '../support/relay.ts';
import type { Replica } from '../support/replica.ts';
import { createSlot, expectCaughtUp, openSlotIds, outcomeOf } from '../support/slot-writes.ts';
import { describeBackends, Stage } from '../support/stage.ts';

/** How long the stores may be behind, whatever has become of the connections. */
const refreshedWithinMs = 30_000;
/** The 10 s within which a connection is replaced, and what a busy machine needs to say so. */
const replacedWithinMs = 14_000;

/** A connection through a relay, and what its client has sent first. */
interface Relayed {
  readonly near: Socket;
  readonly far: Socket;
  sent: string;
}

/** Starts a relay whose connections can fall silent one by one: they stay open, and nothing arrives on them any more. */
async function startSilencer(targetPort: number) {
  const open = new Set<Relayed>();
  const relay = await startRelay(targetPort, (near, far) => {
    const relayed = { near, far, sent: '' };
    open.add(relayed);
    near.on('close', () => open.delete(relayed));
    near.on('data', (chunk: Buffer) => {
      if (relayed.sent.length < 4_096) relayed.sent += chunk.toString('latin1');
    });
    near.pipe(far).pipe(near);
  });
  return {
    port: relay.port,
    close: relay.cut,
    /** Silences the connections that are open and match. Returns how many. */
    silence(matches: (sent: string) => boolean = () => true): number {
      const silenced = [...open].filter(({ sent }) => matches(sent));
      for (const relayed of silenced) {
        open.delete(relayed);
        for (const socket of [relayed.near, relayed.far]) {
          socket.unpipe();
          // Reads on without passing anything on, so that the relay sees when the client closes its end.
          socket.resume();
        }
      }
      return silenced.length;
    },
  };
}

/** A replica whose connections to PostgreSQL, and to Redis where the queue is there, go through silencers. */
async function startRelayed(stage: Stage, { onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
  const postgres = await startSilencer(Number(new URL(inject('postgresUrl')).port));
  const silencers = [postgres];
  const redis = stage.redisUrl === undefined ? undefined : await startSilencer(Number(new URL(stage.redisUrl).port));
  if (redis !== undefined) silencers.push(redis);
  const replica = await stage.start({
    databaseUrl: viaPort(stage.database.url, postgres.port),
    redisUrl: redis && viaPort(stage.redisUrl ?? '', redis.port),
  });
  onTestFinished(async () => {
    await stage.close();
    for (const silencer of silencers) await silencer.close();
  });
  return { replica, postgres, redis, silencers };
}

/** Adds a slot behind the service's back, with a request that no job was queued for. */
const addSlot = async ({ database }: Stage) => {
  const [slot] = await database.sql<{ id: number }>(
    `with slot as (
       insert into slots (delivery_time, freeze_time) values (now() + interval '3 d', now() + interval '2 d') returning id
     )
     insert into store_refresh_requests (slot_id) select id from slot returning slot_id as id`,
  );
  return slot?.id ?? 0;
};

const lostLines = [
  ...['a database connection was lost', 'the connection for notifications failed'],
  ...['a connection of the job queue was lost', 'the connection to Redis failed'],
  'a connection to Redis no longer answers: it is replaced',
];
const lost = (replica: Replica) => lostLines.reduce((sum, line) => sum + replica.logged(line), 0);

describeBackends('Connections that fall silent', (backend) => {
  it('The stores are refreshed within 30 s when all connections fall silent at once', async (context) => {
    const stage = await Stage.open(backend);
    const { replica, silencers } = await startRelayed(stage, context);
    await expectCaughtUp(replica, [(await createSlot(replica)).slotId], refreshedWithinMs);
    for (const silencer of silencers) context.expect(silencer.silence()).toBeGreaterThan(0);
    const slotId = await addSlot(stage);
    await context.expect.poll(() => openSlotIds(replica), { timeout: refreshedWithinMs }).toContain(slotId);
    // And the prompt way works again.
    await eventually(async () => {
      context.expect(await outcomeOf(createSlot(replica))).toBeUndefined();
    }, refreshedWithinMs);
    const next = await createSlot(replica);
    await expectCaughtUp(replica, [next.slotId], refreshedWithinMs);
  });

  it('The stores are refreshed within 30 s when only the connections of the queue fall silent', async (context) => {
    const stage = await Stage.open(backend);
    const { replica, postgres, redis } = await startRelayed(stage, context);
    await expectCaughtUp(replica, [(await createSlot(replica)).slotId], refreshedWithinMs);
    const silenced = redis?.silence() ?? postgres.silence((sent) => sent.includes(' jobs\0'));
    context.expect(silenced).toBeGreaterThan(0);
    const { slotId } = await createSlot(replica);
    await context.expect.poll(() => openSlotIds(replica), { timeout: refreshedWithinMs }).toContain(slotId);
    await context.expect.poll(() => lost(replica), { timeout: replacedWithinMs }).toBeGreaterThanOrEqual(1);
  });
});

const roles: readonly (readonly [string, string, (sent: string) => boolean])[] = [
  ['of the pool', 'a database connection was lost', (sent) => !/ (?:listener|jobs)\0/.test(sent)],
  ['for notifications', 'the connection for notifications failed', (sent) => sent.includes(' listener\0')],
  ['on which BullMQ listens', 'a connection of the job queue was lost', (sent) => /listen\W+bullmq/i.test(sent)],
  [
    'of the job queue',
    'a connection of the job queue was lost',
    (sent) => / jobs\0/.test(sent) && !/listen\W+bullmq/i.test(sent),
  ],
];

it.concurrent.for(roles)(
  'A connection %s that falls silent while nobody uses it is replaced',
  async ([, line, matches], context) => {
    const stage = await Stage.open();
    const { replica, postgres } = await startRelayed(stage, context);
    await expectCaughtUp(replica, [(await createSlot(replica)).slotId], refreshedWithinMs);
    const silenced = postgres.silence(matches);
    context.expect(silenced).toBeGreaterThan(0);
    await context.expect
      .poll(() => replica.logged(line), { timeout: replacedWithinMs })
      .toBeGreaterThanOrEqual(silenced);
    const { slotId } = await createSlot(replica);
    await expectCaughtUp(replica, [slotId], refreshedWithinMs);
  },
);
