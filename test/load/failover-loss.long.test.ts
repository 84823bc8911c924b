import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { failureOf } from '../support/contract.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { post } from '../support/post.ts';
import { noFailover, PostgresCluster } from '../support/postgres-cluster.ts';
import { Replica } from '../support/replica.ts';
import { readSequence, updateSequence } from '../support/sequences.ts';
import { createSlot, openSlot, openSlotIds, readCovering } from '../support/slot-writes.ts';
import { insertStaffUser } from '../support/stage.ts';
import { signToken } from '../support/tokens.ts';

const lostText = 'The database does not know the write of this store-request-id';

async function startCluster(): Promise<PostgresCluster> {
  const cluster = await PostgresCluster.start();
  onTestFinished(() => cluster.stop());
  await migrate(cluster.url);
  await cluster.sql(insertStaffUser);
  return cluster;
}

async function startReplica({ url: databaseUrl }: PostgresCluster): Promise<Replica> {
  const replica = await Replica.start({ databaseUrl });
  onTestFinished(() => replica.kill());
  return replica;
}

/** Starts a replica on a cluster whose only synchronous standby then goes away. */
async function loseStandby() {
  const cluster = await startCluster();
  const replica = await startReplica(cluster);
  const { slotId } = await createSlot(replica);
  await cluster.waitForStandby();
  await cluster.standby.kill();
  return { cluster, replica, slotId };
}

/** Creates a slot by a mutation with a key. Resolves with its id, and whether the answer is a replay. */
async function createKeyed({ slots }: Replica, key: string, timeoutMs = 20_000) {
  let isReplay = false;
  const headers = { 'idempotency-key': key };
  const onHeader = (received: Headers) => {
    isReplay = received.has('idempotent-replayed');
  };
  const { slot } = await slots.createSlot(
    { deliveryTime: '2040-01-02T00:00:00Z', freezeTime: '2040-01-01T00:00:00Z' },
    { headers, timeoutMs, onHeader },
  );
  return { slotId: slot?.id, isReplay };
}

describeUnless(noFailover, 'A PostgreSQL whose standby is not there, or lags', undefined, () => {
  it('Without synchronous replication a failover loses acknowledged writes, and no replica shows them any more', async () => {
    const cluster = await startCluster();
    const [writer, other] = [await startReplica(cluster), await startReplica(cluster)];
    const replicas = [writer, other];
    const kept = await createSlot(writer);
    await updateSequence(writer, kept.slotId, 1);
    for (const replica of replicas) await readCovering(replica, kept, 20_000);
    await cluster.cutReplication();

    const lost = await createSlot(writer);
    const key = randomUUID();
    const keyed = await createKeyed(writer, key);
    await updateSequence(writer, kept.slotId, 2);
    for (const replica of replicas) {
      expect(await readCovering(replica, lost, 20_000)).toContain(lost.slotId);
      await expect.poll(() => readSequence(replica, kept.slotId)).toBe(2);
    }

    await cluster.failOver('kill');
    for (const replica of replicas) {
      await expect.poll(() => openSlotIds(replica).catch(String)).toEqual([kept.slotId]);
      await expect.poll(() => readSequence(replica, kept.slotId).catch(String)).toBe(1);
      await expect.poll(async () => Code[(await failureOf(readCovering(replica, lost, 20_000))).code]).toBe('Aborted');
      expect((await failureOf(readCovering(replica, lost, 20_000))).rawMessage).toBe(lostText);
    }
    // The key is lost with its write, so that the write is made again.
    expect(await createKeyed(other, key)).toEqual({ slotId: expect.any(Number), isReplay: false });
    expect(keyed.isReplay).toBe(false);
    const next = await createSlot(writer);
    for (const replica of replicas) expect(await readCovering(replica, next, 20_000)).toContain(next.slotId);
  });

  it('While the only synchronous standby is gone, writes wait until their deadline, reads go on, and no retry is acknowledged', async () => {
    const { cluster, replica, slotId } = await loseStandby();

    const key = randomUUID();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect(Code[(await failureOf(createKeyed(replica, key, 2_000))).code]).toBe('DeadlineExceeded');
    }
    expect((await replica.slots.getSlotById({ id: slotId })).slot?.id).toBe(slotId);

    await cluster.standby.start();
    expect(await createKeyed(replica, key)).toEqual({ slotId: expect.any(Number), isReplay: true });
  });

  it('While the only synchronous standby is gone, no write is answered after its deadline as if it were safe', async () => {
    const { replica } = await loseStandby();

    // PostgreSQL ends the wait of a commit that is canceled, and reports success.
    const token = await signToken({ staffId: 1 });
    const headers = { 'connect-timeout-ms': '2000' };
    const response = await post(replica.ports.webPort, 'CreateSlot', token, JSON.stringify(openSlot()), headers);
    expect(await response.json()).toMatchObject({ code: 'deadline_exceeded' });
  });

  it('While the only synchronous standby is gone, writes without a deadline end, and leave no connection behind', async () => {
    const { cluster, replica, slotId } = await loseStandby();

    const writes = Array.from({ length: 20 }, () => failureOf(replica.slots.createSlot(openSlot())));
    const codes = (await Promise.all(writes)).map(({ code }) => Code[code]);
    expect(codes.filter((code) => !['Unavailable', 'DeadlineExceeded'].includes(code ?? ''))).toEqual([]);
    expect((await replica.slots.getSlotById({ id: slotId })).slot?.id).toBe(slotId);
    const waiting = () =>
      cluster.primary.sql(
        `select pid from pg_stat_activity where wait_event = 'SyncRep' and application_name = 'slot-service'`,
      );
    await expect.poll(waiting).toEqual([]);
  });

  it('Of two synchronous standbys of which any one is enough, one may be gone', async () => {
    const cluster = await startCluster();
    const replica = await startReplica(cluster);
    await cluster.addStandby();
    await cluster.waitForStandby();
    await cluster.standby.kill();
    const next = await createSlot(replica);
    expect(await readCovering(replica, next, 20_000)).toContain(next.slotId);
  });
});
