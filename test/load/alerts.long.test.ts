import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { DescService } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { type FakeClock, fakeClock, noFaketime } from '../support/faketime.ts';
import { fillDisk, setReadOnly } from '../support/faults.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { lockSlots } from '../support/locks.ts';
import { run } from '../support/processes.ts';
import { monitoringFolder, noPrometheus, Prometheus, promtool } from '../support/prometheus.ts';
import { noRedisServer } from '../support/redis.ts';
import type { Replica } from '../support/replica.ts';
import { createSlot, openSlot } from '../support/slot-writes.ts';
import { signToken, withToken } from '../support/tokens.ts';
import { ruleTestsOf } from './alerts-recording.ts';
import { Deployment } from './alerts-stage.ts';

const missing = noPrometheus ?? noRedisServer ?? noFaketime;

// In minutes from the start of the recording.
const faultAt = 3;
const mendAt = 10.5;
const endAt = 16;

/** Ends what was brought about. */
type Mend = () => unknown;

interface Cause {
  /** Names the file of the recording. */
  readonly name: string;
  /** What happens, in a sentence that the file begins with. */
  readonly cause: string;
  /** The alerts that fire: its own first, then those that follow from the same cause. */
  readonly alerts: readonly string[];
  /** Further variables of the first replica of each service. */
  readonly env?: Readonly<Record<string, string>>;
  bring(deployment: Deployment): Promise<Mend> | Mend;
}

/** Has a transaction hold a lock. */
async function hold({ parts }: Deployment, lock: string): Promise<Mend> {
  const client = new pg.Client({ connectionString: parts.stage.database.url });
  await client.connect();
  await client.query(`begin; ${lock}`);
  return () => client.end();
}

/** Opens a connection of a further caller, and its loops of calls. */
async function join<Service extends DescService>(
  deployment: Deployment,
  { ports }: Replica,
  subject: string,
  service: Service,
) {
  const connection = createGrpcJsTransport(`127.0.0.1:${ports.grpcPort}`);
  const transport = withToken(connection, await signToken({ staffId: 1, subject }));
  const left = new AbortController();
  return {
    client: createClient(service, transport),
    call: (everyMs: number, call: () => Promise<unknown>) => deployment.call(everyMs, call, left.signal),
    leave() {
      left.abort();
      connection.close();
    },
  };
}

const signalOf = ({ pid }: Replica) => ({
  stop: () => process.kill(pid, 'SIGSTOP'),
  go: () => process.kill(pid, 'SIGCONT'),
});

let clock: FakeClock | undefined;

const causes: readonly Cause[] = [
  {
    name: 'nothing-wrong',
    cause:
      'a rolling restart of both services, then PostgreSQL and Redis are away for a minute each, 3.5 minutes apart. Watches end at their deadlines.',
    alerts: [],
    async bring(deployment) {
      const { proxy, redis } = deployment.parts;
      const { client, call, leave } = await join(deployment, deployment.two, 'watcher', SlotStoreService);
      for (let n = 0; n < 8; n += 1) {
        call(0, async () => {
          for await (const _version of client.watchStore({}, { timeoutMs: 5_000 }));
        });
      }
      for (const name of ['one', 'two', 'coupon'] as const) {
        await deployment[name].stop();
        deployment[name] = await deployment[name].startAgain();
        await pause(5_000);
      }
      await proxy.cut();
      await pause(60_000);
      await proxy.mend();
      // Longer than the windows of the rules.
      await pause(210_000);
      await redis.kill();
      await pause(60_000);
      await redis.resume();
      return leave;
    },
  },
  {
    name: 'service-down',
    cause: 'both replicas of slot-service are killed, and started again in minute 10.',
    alerts: ['ServiceDown', 'ReplicaDown'],
    async bring(deployment) {
      await Promise.all([deployment.one.kill(), deployment.two.kill()]);
      return async () => {
        deployment.one = await deployment.one.startAgain();
        deployment.two = await deployment.two.startAgain();
      };
    },
  },
  {
    name: 'replica-down',
    cause: 'a replica hangs, stopped by SIGSTOP, until minute 10.',
    alerts: ['ReplicaDown'],
    bring({ two }) {
      signalOf(two).stop();
      return signalOf(two).go;
    },
  },
  {
    name: 'replica-restarts',
    cause: 'a replica is killed and started again four times within two minutes.',
    alerts: ['ReplicaRestarts'],
    async bring(deployment) {
      for (let n = 0; n < 4; n += 1) {
        await deployment.two.kill();
        deployment.two = await deployment.two.startAgain();
        await pause(25_000);
      }
      return () => undefined;
    },
  },
  {
    name: 'database-away',
    cause: 'the replicas do not reach PostgreSQL until minute 10.',
    alerts: ['ReplicaNotReady', 'CallsFail'],
    async bring({ parts }) {
      await parts.proxy.cut();
      return parts.proxy.mend;
    },
  },
  {
    name: 'database-read-only',
    cause:
      'the database is read only until minute 10, as one whose standby was not promoted, and a refresh of the stores is due.',
    alerts: ['DatabaseNotWritable', 'CallsFail', 'StoresStale', 'QueueAway'],
    async bring(deployment) {
      const { stage } = deployment.parts;
      await deployment.untilWritten();
      await setReadOnly(stage, true);
      return () => setReadOnly(stage, false);
    },
  },
  {
    name: 'disk-full',
    cause: 'until minute 10 each write to slots fails with the error of a full disk.',
    alerts: ['DatabaseNotWritable', 'CallsFail'],
    async bring({ parts }) {
      await fillDisk(parts.stage);
      return () => parts.stage.database.sql('drop trigger full_disk on slots');
    },
  },
  {
    name: 'table-missing',
    cause: 'somebody has renamed a table of coupon-service, until minute 10.',
    alerts: ['CallsFail'],
    async bring({ parts }) {
      await parts.stage.database.sql('alter table coupons rename to elsewhere');
      return () => parts.stage.database.sql('alter table elsewhere rename to coupons');
    },
  },
  {
    name: 'locked-table',
    cause:
      'a transaction holds a lock on slots until minute 10. 12 writes at a time wait for it, and so does a refresh of the stores.',
    alerts: ['CallsFail', 'CallsWait', 'StoresStale', 'QueueAway'],
    async bring(deployment) {
      const { client, call, leave } = await join(deployment, deployment.one, 'writer', SlotService);
      await deployment.untilWritten();
      const release = await hold(deployment, lockSlots);
      for (let n = 0; n < 12; n += 1) call(0, () => client.createSlot(openSlot(), { timeoutMs: 5_000 }));
      return async () => {
        leave();
        await release();
      };
    },
  },
  {
    name: 'overload',
    cause: 'each write takes a second, and until minute 10 comes 40 at a time to a replica that executes two.',
    alerts: ['CallsWait', 'CallsRefused'],
    env: { MAX_CALLS_IN_FLIGHT: '2' },
    async bring(deployment) {
      const { sql } = deployment.parts.stage.database;
      await sql(`create function slow() returns trigger language plpgsql as
        $$ begin perform pg_sleep(1); return new; end $$`);
      await sql('create trigger slow before insert on slots for each row execute function slow()');
      const { client, call, leave } = await join(deployment, deployment.one, 'flood', SlotService);
      for (let n = 0; n < 40; n += 1) call(100, () => client.createSlot(openSlot()));
      return async () => {
        leave();
        await sql('drop trigger slow on slots');
      };
    },
  },
  {
    name: 'guessing',
    cause: 'a caller guesses coupon codes until minute 10, and may miss five in a minute.',
    alerts: ['CallsRefused'],
    env: { VALIDATE_MISSES_PER_MINUTE: '5' },
    async bring(deployment) {
      const { client, call, leave } = await join(deployment, deployment.coupon, 'guesser', CouponService);
      let n = 0;
      call(200, () => client.validate({ code: `GUESS${n++}`, userId: 1, orderAmount: 10 }));
      return leave;
    },
  },
  {
    name: 'stores-stale',
    cause: 'a transaction holds a lock on store_versions until minute 10, for which every refresh waits.',
    alerts: ['StoresStale'],
    bring: (deployment) => hold(deployment, 'lock table store_versions in exclusive mode'),
  },
  {
    name: 'replica-behind',
    cause: 'a replica does not reach PostgreSQL at DATABASE_DIRECT_URL until minute 10.',
    alerts: ['ReplicaBehind', 'ConnectionsLost'],
    async bring({ parts }) {
      await parts.directProxy.cut();
      return parts.directProxy.mend;
    },
  },
  {
    name: 'queue-away',
    cause: 'Redis hangs, stopped by SIGSTOP, until minute 10.',
    alerts: ['QueueAway'],
    bring({ parts }) {
      parts.redis.hang();
      return () => parts.redis.wake();
    },
  },
  {
    name: 'connections-lost',
    cause: 'idle connections to PostgreSQL are ended every 20 s until minute 10.',
    alerts: ['ConnectionsLost'],
    bring({ parts }) {
      const end = `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like '%-service%' and state = 'idle'`;
      const timer = setInterval(() => void parts.stage.database.sql(end), 20_000);
      return () => clearInterval(timer);
    },
  },
  {
    name: 'clock-off',
    cause: 'the clock of the first replicas is 8 s ahead until minute 10.',
    alerts: ['ClockOff'],
    async bring() {
      await clock?.set('+8');
      return () => clock?.set('+0');
    },
  },
  {
    name: 'event-loop-lags',
    cause: 'a replica gets the processor for half of each 0.5 s until minute 10, by SIGSTOP and SIGCONT.',
    alerts: ['EventLoopLags'],
    bring({ two }) {
      const { stop, go } = signalOf(two);
      const stopping = setInterval(() => {
        stop();
        setTimeout(go, 250);
      }, 500);
      return () => clearInterval(stopping);
    },
  },
  {
    name: 'ids-run-out',
    cause: 'a sequence is set to 60 % of its numbers, and set back in minute 10.',
    alerts: ['IdsRunOut'],
    async bring({ parts }) {
      const { sql } = parts.stage.database;
      const [row] = await sql<{ last: string }>('select last_value as last from redemptions_id_seq');
      await sql(`select setval('redemptions_id_seq', 1288490188)`);
      return () => sql(`select setval('redemptions_id_seq', $1)`, [row?.last]);
    },
  },
  {
    name: 'webhooks-late',
    cause: 'the receiver of webhooks answers with 500 until minute 10.',
    alerts: ['WebhooksLate'],
    bring({ parts: { receiver, stage } }) {
      receiver.answer = () => 500;
      return () => {
        receiver.answer = () => 204;
        return stage.database.sql('update webhook_deliveries set due_at = now()');
      };
    },
  },
  {
    name: 'holds-run-out',
    cause: 'four orders a second hold a slot, and none confirms its booking, until minute 10.',
    alerts: ['HoldsRunOut'],
    async bring(deployment) {
      const { slotId } = await createSlot(deployment.one);
      const { client, call, leave } = await join(deployment, deployment.one, 'orders', SlotBookingService);
      let orders = 0;
      call(250, () => client.book({ slotId, orderKey: `order-${++orders}`, holdSeconds: 1 }));
      return leave;
    },
  },
];

/** Records a cause from before it comes until after it is gone, and returns the recording as rule tests. */
async function record({ bring, cause, alerts }: Cause, deployment: Deployment): Promise<string> {
  const prometheus = await Prometheus.start(deployment.parts.targets);
  const startedAt = Date.now() / 1_000;
  const until = (minutes: number) => pause((startedAt + minutes * 60) * 1_000 - Date.now());
  await until(faultAt);
  const mend = await bring(deployment);
  await until(mendAt);
  await mend();
  await until(endAt);
  const text = await ruleTestsOf({ prometheus, startedAt, faultAt, endAt, cause, alerts });
  await prometheus.stop();
  return text;
}

describeUnless(missing, 'The alerts', undefined, () => {
  const recordings = new Map<string, Promise<string>>();

  beforeAll(async () => {
    clock = await fakeClock('+0');
    const deployments: Deployment[] = [];
    for (const { name, env } of causes) {
      const variables = name === 'clock-off' ? clock.env : env;
      deployments.push(await Deployment.open(variables ?? {}));
    }
    // All at the same time: each takes its minutes.
    for (const [n, deployment] of deployments.entries()) {
      const cause = causes[n];
      if (cause === undefined) continue;
      const recording = record(cause, deployment).finally(() => deployment.close());
      recording.catch(() => undefined);
      recordings.set(cause.name, recording);
    }
    return () => clock?.remove();
  }, 600_000);

  it.each(causes)(
    'From $name follow the alerts $alerts, once each, and none before or afterwards',
    { timeout: 2 * endAt * 60_000 },
    async ({ name }) => {
      const file = path.join(monitoringFolder, 'tests', `${name}.yml`);
      await writeFile(file, (await recordings.get(name)) ?? '');
      expect(await run(promtool, ['test', 'rules', file])).toMatchObject({ code: 0 });
    },
  );
});
