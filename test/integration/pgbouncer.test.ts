import { Code, ConnectError } from '@connectrpc/connect';
import { describe, it, type TestContext } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { noPgBouncer, type PgBouncer, type PgBouncerOptions, startPgBouncer } from '../support/pgbouncer.ts';
import { noRedis } from '../support/redis.ts';
import type { Replica } from '../support/replica.ts';
import { type Backend, eventually, Stage } from './stores-stage.ts';
import { createSlot, openSlot, outcomeOf, readCovering } from './stores-writes.ts';

const timeout = 60_000;
const reason = noPgBouncer === undefined ? '' : ` (skipped: ${noPgBouncer})`;

async function openStage(options: PgBouncerOptions, { onTestFinished }: TestContext, backend: Backend = 'PostgreSQL') {
  const stage = await Stage.open(backend);
  const pooler = await startPgBouncer(stage.database.url, options);
  onTestFinished(async () => {
    // Else its connections count as left open.
    await pooler.stop();
    await stage.close();
  });
  return { stage, pooler };
}

/** Two replicas, with a direct way for what needs a session. */
function startTwo(
  stage: Stage,
  { url: databaseUrl }: PgBouncer,
  more: Record<string, string> = {},
): Promise<Replica[]> {
  const env = { DATABASE_DIRECT_URL: stage.database.url, ...more };
  return Promise.all([stage.start({ databaseUrl, env }), stage.start({ databaseUrl, env })]);
}

/** Writes through all at once, and waits until each replica has heard of all writes. */
async function expectServing(replicas: readonly Replica[], { expect }: TestContext): Promise<void> {
  const writes = Array.from({ length: 40 }, (_, n) => replicas[n % replicas.length]).map((replica) =>
    replica === undefined ? Promise.reject(new Error('there is no replica')) : createSlot(replica),
  );
  const written = await Promise.all(writes);
  for (const replica of replicas) {
    for (const one of written) expect(await readCovering(replica, one, 10_000)).toContain(one.slotId);
  }
}

/** A call's deadline ends its statement on the server, and no other one's. */
async function expectCanceled(stage: Stage, { slots }: Replica, { expect }: TestContext): Promise<void> {
  const waiting = async () => {
    const rows = await stage.database.sql(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
       and position('insert into slots' in query) > 0`,
    );
    return rows.length;
  };
  await stage.holding('lock table slots in exclusive mode', async (release) => {
    const patient = slots.createSlot(openSlot());
    await eventually(async () => expect(await waiting()).toBe(1));
    const late = outcomeOf(slots.createSlot(openSlot(), { timeoutMs: 2_000 }));
    await eventually(async () => expect(await waiting()).toBe(2));
    expect(ConnectError.from(await late).code).toBe(Code.DeadlineExceeded);
    await eventually(async () => expect(await waiting()).toBe(1));
    await release();
    expect((await patient).slot?.id).toBeGreaterThan(0);
  });
}

describe.skipIf(noPgBouncer)(`Behind PgBouncer${reason}`, () => {
  it('in session mode all works with prepared statements, also a migration', { timeout }, async (context) => {
    const { stage, pooler } = await openStage({ mode: 'session', poolSize: 60 }, context);
    context.expect(await migrate(pooler.url)).toEqual([]);
    const replicas = await startTwo(stage, pooler);
    await expectServing(replicas, context);
    await expectCanceled(stage, replicas[0] ?? (await stage.start()), context);
  });

  it('in transaction mode all works without prepared statements', { timeout }, async (context) => {
    const { stage, pooler } = await openStage({ mode: 'transaction', poolSize: 4 }, context);
    const replicas = await startTwo(stage, pooler, { DATABASE_PREPARE: 'false' });
    await expectServing(replicas, context);
    await expectCanceled(stage, replicas[0] ?? (await stage.start()), context);
    const [pooled] = await stage.database.sql<{ n: number }>(
      `select count(*)::integer as n from pg_stat_activity
       where datname = current_database() and application_name = 'slot-service'`,
    );
    // Two pools of ten share them.
    context.expect(pooled?.n).toBeLessThanOrEqual(4);
  });

  it('a service without a direct way refuses to start', { timeout }, async (context) => {
    const { stage, pooler } = await openStage({ mode: 'session', poolSize: 60 }, context);
    const started = stage.start({ databaseUrl: pooler.url });
    await context.expect(started).rejects.toThrow('unsupported startup parameter');
  });

  it.skipIf(noRedis)(
    'a service that hears no notifications says so, and does not start',
    { timeout },
    async (context) => {
      const { stage, pooler } = await openStage({ mode: 'transaction', poolSize: 4 }, context, 'Redis');
      const started = stage.start({ databaseUrl: pooler.url, env: { DATABASE_PREPARE: 'false' } });
      await context.expect(started).rejects.toThrow('slot-service: notifications do not arrive: DATABASE_DIRECT_URL');
    },
  );
});
