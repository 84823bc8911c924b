import { Code, ConnectError } from '@connectrpc/connect';
import { describe, it, type TestContext } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { holding } from '../support/locks.ts';
import {
  noPgBouncer,
  noPreparingPgBouncer,
  type PgBouncer,
  type PgBouncerOptions,
  startPgBouncer,
} from '../support/pgbouncer.ts';
import { noRedis } from '../support/redis.ts';
import type { Replica } from '../support/replica.ts';
import { createSlot, openSlot, outcomeOf, readCovering } from '../support/slot-writes.ts';
import { type Backend, Stage } from '../support/stage.ts';

const reason = noPgBouncer === undefined ? '' : ` (skipped: ${noPgBouncer})`;
const preparingReason = noPreparingPgBouncer === undefined ? '' : ` (skipped: ${noPreparingPgBouncer})`;

async function openStage(options: PgBouncerOptions, { onTestFinished }: TestContext, backend: Backend = 'PostgreSQL') {
  const stage = await Stage.open(backend);
  const pooler = await startPgBouncer(stage.database.url, options);
  onTestFinished(async () => {
    // First, because its connections to the database would count as left open.
    await pooler.stop();
    await stage.close();
  });
  return { stage, pooler };
}

/** Starts two replicas, with a direct URL for what needs a session. */
function startTwo(
  stage: Stage,
  { url: databaseUrl }: PgBouncer,
  more: Record<string, string> = {},
): Promise<Replica[]> {
  const env = { DATABASE_DIRECT_URL: stage.database.url, ...more };
  return Promise.all([stage.start({ databaseUrl, env }), stage.start({ databaseUrl, env })]);
}

/** Writes through all replicas at once, and waits until the stores of each cover all writes. */
async function expectServing(replicas: readonly Replica[], { expect }: TestContext): Promise<void> {
  const writes = Array.from({ length: 40 }, (_, n) => replicas[n % replicas.length]).map((replica) =>
    replica === undefined ? Promise.reject(new Error('there is no replica')) : createSlot(replica),
  );
  const written = await Promise.all(writes);
  for (const replica of replicas) {
    for (const one of written) expect(await readCovering(replica, one, 30_000)).toContain(one.slotId);
  }
}

/** Expects that the deadline of a call ends its statement in PostgreSQL, and no other statement. */
async function expectCanceled(stage: Stage, { slots }: Replica, { expect }: TestContext): Promise<void> {
  await holding(stage.database.url, 'lock table slots in exclusive mode', async (lock) => {
    const waiting = () => expect.poll(() => lock.waiting('%insert into slots%'));
    const patient = slots.createSlot(openSlot());
    await waiting().toBe(1);
    const late = outcomeOf(slots.createSlot(openSlot(), { timeoutMs: 2_000 }));
    await waiting().toBe(2);
    expect(ConnectError.from(await late).code).toBe(Code.DeadlineExceeded);
    await waiting().toBe(1);
    await lock.release();
    expect((await patient).slot?.id).toBeGreaterThan(0);
  });
}

/** Expects that two replicas work while their pools of ten connections share four. */
async function expectFewConnections(prepare: 'true' | 'false', context: TestContext): Promise<void> {
  const { stage, pooler } = await openStage({ mode: 'transaction', poolSize: 4, preparedStatements: 200 }, context);
  const replicas = await startTwo(stage, pooler, { DATABASE_PREPARE: prepare });
  await expectServing(replicas, context);
  await expectCanceled(stage, replicas[0] ?? (await stage.start()), context);
  const [pooled] = await stage.database.sql<{ n: number }>(
    `select count(*)::integer as n from pg_stat_activity
     where datname = current_database() and application_name = 'slot-service'`,
  );
  context.expect(pooled?.n).toBeLessThanOrEqual(4);
}

describe.skipIf(noPgBouncer)(`Behind PgBouncer${reason}`, () => {
  it('Behind PgBouncer in session mode, prepared statements and notifications work, beside a migration past it', async (context) => {
    const { stage, pooler } = await openStage({ mode: 'session', poolSize: 60 }, context);
    context.expect(await migrate(stage.database.url)).toEqual([]);
    const replicas = await startTwo(stage, pooler);
    await expectServing(replicas, context);
    await expectCanceled(stage, replicas[0] ?? (await stage.start()), context);
  });

  it('Behind PgBouncer in transaction mode, services without prepared statements work', (context) =>
    expectFewConnections('false', context));

  it.skipIf(noPreparingPgBouncer)(
    `Behind PgBouncer in transaction mode, services with prepared statements work${preparingReason}`,
    (context) => expectFewConnections('true', context),
  );
  it('Behind PgBouncer in transaction mode, a service without DATABASE_DIRECT_URL refuses to start', async (context) => {
    const { stage, pooler } = await openStage({ mode: 'transaction', poolSize: 4, preparedStatements: 200 }, context);
    const started = stage.start({ databaseUrl: pooler.url, env: { DATABASE_PREPARE: 'false' } });
    await context.expect(started).rejects.toThrow(/notifications do not arrive|unsupported startup parameter/);
  });

  it.runIf(noPreparingPgBouncer)(
    'Behind an older PgBouncer in transaction mode, services with prepared statements name the variable to set',
    async (context) => {
      const { stage, pooler } = await openStage({ mode: 'transaction', poolSize: 1 }, context);
      const env = { DATABASE_DIRECT_URL: stage.database.url };
      const told: string[] = [];
      // One of them takes the names of the statements on the one connection.
      for (let left = 2; left > 0; left -= 1) {
        const replica = await stage.start({ databaseUrl: pooler.url, env }).catch((error: unknown) => {
          told.push(String(error));
        });
        if (replica) {
          await replica.slots.getSlots({}).catch(() => undefined);
          told.push(...replica.log.map(({ msg }) => String(msg)));
        }
      }
      context.expect(told.join('\n')).toContain('a pooler in transaction mode: set DATABASE_PREPARE=false');
    },
  );

  it.skipIf(noPreparingPgBouncer)(
    `Behind PgBouncer in session mode, services need no DATABASE_DIRECT_URL${preparingReason}`,
    async (context) => {
      const { stage, pooler } = await openStage({ mode: 'session', poolSize: 60 }, context);
      const env = { databaseUrl: pooler.url };
      await expectServing(await Promise.all([stage.start(env), stage.start(env)]), context);
    },
  );

  it.runIf(noPreparingPgBouncer)(
    'Behind an older PgBouncer in session mode, a service without DATABASE_DIRECT_URL refuses to start',
    async (context) => {
      const { stage, pooler } = await openStage({ mode: 'session', poolSize: 60 }, context);
      const started = stage.start({ databaseUrl: pooler.url });
      await context.expect(started).rejects.toThrow('unsupported startup parameter');
    },
  );

  it.skipIf(noRedis)(
    'Behind PgBouncer, a service that gets no notifications says so and does not start',
    async (context) => {
      const { stage, pooler } = await openStage({ mode: 'transaction', poolSize: 4 }, context, 'Redis');
      const started = stage.start({ databaseUrl: pooler.url, env: { DATABASE_PREPARE: 'false' } });
      await context.expect(started).rejects.toThrow('slot-service: notifications do not arrive: DATABASE_DIRECT_URL');
    },
  );
});
