import { expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../services/dev/ports.ts';
import type { TestDatabase } from '../support/database.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { DocumentedReceiver } from '../support/documented-receiver.ts';
import { type Fault, noFailover } from '../support/postgres-cluster.ts';
import { noRedisServer, RedisServer } from '../support/redis.ts';
import { signToken } from '../support/tokens.ts';
import { BookingLoad, expectCounted } from './booking-load.ts';
import { ChaosStage } from './chaos-stage.ts';
import { startCluster } from './cluster.ts';
import { RedemptionLoad } from './redemption-load.ts';
import { expectTruth } from './slot-truth.ts';

const missing = noFailover ?? noRedisServer;
const kills = 500;
const killsPerFailover = 50;
/** After so many, the receiver of the webhooks and Redis are killed, too. */
const killsPerOthers = 10;
const faults: readonly Fault[] = ['kill', 'freeze', 'stop'];
const eventsSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** Which service wrote an entry: users are of coupon-service, because nothing is imported. */
const serviceOfEntry = `case when resource_type in ('slot', 'booking') then 'slot-service' else 'coupon-service' end`;

/** Where BullMQ keeps the jobs. */
const queues = [
  { name: 'PostgreSQL', open: async () => undefined },
  {
    name: 'Redis',
    async open() {
      const redis = await RedisServer.start();
      onTestFinished(() => redis.stop());
      return redis;
    },
  },
];

describeUnless(missing, 'Both services, killed again and again', undefined, () => {
  it.each(queues)(
    'Five hundred kills and ten failovers, with the jobs in $name, lose and double no mutation, exceed no limit, overbook no slot and keep no event back',
    { timeout: 10_800_000 },
    async ({ open }) => {
      const { cluster, sql } = await startCluster();
      const receiver = new DocumentedReceiver('ts', eventsSecret, await findFreePort());
      await receiver.start();
      onTestFinished(() => receiver.kill());
      const redis = await open();
      const options = {
        redisUrl: redis?.url,
        env: { EVENTS_URL: receiver.url, EVENTS_SECRET: eventsSecret },
      };
      const stage = await ChaosStage.start(cluster.url, sql, () => options);
      onTestFinished(() => stage.stop());
      await expect.poll(() => sql('select from webhook_deliveries where is_active')).toHaveLength(2);
      const token = await signToken({ staffId: 1, subject: 'orders' });
      const redemptions = new RedemptionLoad(stage.portsOf('coupon'), token, sql);
      const bookings = new BookingLoad(stage.portsOf('slot'), token, sql);
      const loads = [redemptions, bookings];
      onTestFinished(() => {
        for (const load of loads) load.close();
      });
      stage.load();
      const running = loads.map((load) => load.run(Number.POSITIVE_INFINITY));
      for (const load of running) load.catch(() => undefined);

      // One replica of each service at a time.
      for (let killed = 2; killed <= kills; killed += 2) {
        await stage.untilProgress();
        const pair = (killed / 2) % 2 === 0 ? [2, 3] : [0, 1];
        await Promise.all(pair.map((replica) => stage.killReplica(replica)));
        if (killed % killsPerOthers === 0) {
          await Promise.all([receiver.kill(), redis?.kill()]);
          await Promise.all([receiver.start(), redis?.resume()]);
        }
        if (killed % killsPerFailover === 0) {
          await cluster.failOver(faults[(killed / killsPerFailover) % faults.length] ?? 'kill');
          await cluster.rejoin();
          await cluster.waitForStandby();
          console.info(
            `${killed} kills, ${stage.acknowledged.length} writes, calls that redeem ${redemptions.calls}, that book ${bookings.calls}`,
          );
        }
      }
      for (const load of loads) load.stop();
      await Promise.all(running);
      await stage.endLoad();

      const attempts = stage.acknowledged.reduce((sum, one) => sum + one.attempts, 0);
      const unanswered = await redemptions.expectLinearizable();
      expect(unanswered).toBeGreaterThan(0);
      const booked = await bookings.expectLinearizable();
      expect(booked.unanswered).toBeGreaterThan(0);
      await expectCounted(sql);
      // The slots that are booked were made by SQL.
      await sql('insert into store_refresh_requests default values');
      await expectTruth(
        sql,
        stage.replicas.filter((_, index) => index % 2 === 0),
      );
      await stage.expectAllWrittenOnce();
      const events = await expectAllSent(receiver, sql);
      console.info(
        `${kills} kills, ${kills / killsPerFailover} failovers, ${stage.acknowledged.length} writes in ${attempts} attempts, ` +
          `${redemptions.calls} calls that redeem, ${unanswered} of them without an answer, ` +
          `${bookings.calls} that book, ${booked.unanswered} without an answer, ${events} events`,
      );
    },
  );
});

/** Expects that the receiver was sent each entry, and each service's in one order. Resolves with how many there are. */
async function expectAllSent(receiver: DocumentedReceiver, sql: TestDatabase['sql']): Promise<number> {
  await sql('update webhook_deliveries set due_at = now()');
  const unsent = `select from audit_entries join webhook_deliveries on service = ${serviceOfEntry} and id > sent_id limit 1`;
  await expect.poll(() => sql(unsent), { timeout: 300_000 }).toEqual([]);
  const sent = [...new Set(receiver.lines.map((line) => line.split(' ')[0] ?? ''))];
  const written = await sql<{ event: string }>(
    `select ${serviceOfEntry} || '-' || id as event from audit_entries order by id`,
  );
  for (const service of ['slot-service', 'coupon-service']) {
    const ofService = (events: readonly string[]) => events.filter((event) => event.startsWith(service));
    // Some came again, but none came first after a later one.
    expect(ofService(sent)).toEqual(ofService(written.map(({ event }) => event)));
  }
  return written.length;
}
