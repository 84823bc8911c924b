import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Code } from '@connectrpc/connect';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { grantServiceRole } from '../../shared/db/service-role.ts';
import { RedemptionState } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { isMutation, procedureName } from '../../shared/rpc/procedure.ts';
import { expectTruth } from '../load/slot-truth.ts';
import { allServices } from '../support/all-services.ts';
import { failureOf } from '../support/contract.ts';
import { programFolder } from '../support/postgres-server.ts';
import { succeed } from '../support/processes.ts';
import { openRedis } from '../support/redis.ts';
import type { Replica } from '../support/replica.ts';
import { fixture } from '../support/service.ts';
import { createSlot, readCovering } from '../support/slot-writes.ts';
import { Callers, type Records } from './recovery-callers.ts';
import { blocksUnder, Deployment, makeFolder } from './recovery-stage.ts';

const reason = programFolder === undefined ? ' (skipped: no PostgreSQL of Debian, of the package postgresql)' : '';

describe.skipIf(programFolder === undefined)(`Backup and recovery${reason}`, { timeout: 600_000 }, () => {
  it('After a recovery to a point in time all is as it was at that moment, and replicas that ran on follow', async () => {
    const folder = await makeFolder();
    const deployment = await deploy(folder, 'a');
    const redis = await openRedis();
    onTestFinished(() => redis.stop());
    const options = { redisUrl: redis.url };
    const [slot, coupon] = [await deployment.start('slot', options), await deployment.start('coupon')];
    const callers = await Callers.of(slot, coupon);
    await callers.writeDuring(() => deployment.follow('A point in time', 0));
    const tooEarly = await deployment.now();

    const kept = await callers.write('KEPT', 1);
    await readCovering(slot, kept, 20_000);
    const moment = await deployment.now();
    const lost = await callers.write('LOST', 2, kept.slotId);
    const newest = await storesWithLost(slot, lost);
    const told = watch(slot);
    await expect.poll(() => told.at(-1)).toBe(newest);
    // Its job waits in Redis while the database is recovered.
    await createSlot(slot);
    await deployment.server.kill();
    await deployment.follow('A point in time', 1);
    await deployment.follow('A point in time', 2, { variables: { MOMENT: tooEarly } });
    await startRecovered(deployment);
    await deployment.server.kill();
    await rm(deployment.server.folder, { recursive: true });
    await deployment.follow('A point in time', 2, { variables: { MOMENT: moment, TIMELINE: '1' } });
    await startRecovered(deployment);
    await deployment.follow('After the recovery');

    // Within the half minute in which a sweep finds the request for a new version.
    await expect.poll(() => told.at(-1)).toBeGreaterThan(newest + 1_000);
    const other = await deployment.start('slot', options);
    await expectWatchToGoOn(other, newest);
    await expectRecovered(deployment, { slots: [slot, other], coupon, kept, lost });
    await expectLostToBeFound(deployment, folder, { replicas: [slot, coupon, other], lost });
  });

  it('A dump of a schema of any name that was made under load is right in another cluster, where no id of the old one is taken for a new one', async () => {
    const folder = await makeFolder();
    const old = await deploy(folder, 'a', 'delivery');
    const before = [await old.start('slot'), await old.start('coupon')] as const;
    const callers = await Callers.of(...before);
    const kept = await callers.write('KEPT', 1);
    await readCovering(before[0], kept, 20_000);
    await callers.writeDuring(() => old.follow('Dumps', 0));
    const lost = await callers.write('LOST', 2, kept.slotId);
    const newest = await storesWithLost(before[0], lost);
    for (const replica of before) await replica.stop();

    const restored = await Deployment.create(folder, 'b', 'delivery');
    await restored.follow('Dumps', 1);
    await restored.follow('After the recovery');
    const [slot, coupon] = [await restored.start('slot'), await restored.start('coupon')];
    await expectWatchToGoOn(slot, newest);
    await expectRecovered(restored, { slots: [slot], coupon, kept, lost });
    await expectLostToBeFound(restored, folder, { replicas: [...before, slot, coupon], lost });
  });

  it('A disk snapshot that is started as documented begins a new timeline, each time another one', async () => {
    const folder = await makeFolder();
    const deployment = await deploy(folder, 'a');
    const { server } = deployment;
    const snapshot = path.join(folder, 'snapshot');
    await server.kill();
    await succeed('cp', ['-a', server.folder, snapshot]);
    const timelines = new Set<string>();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await deployment.follow('A disk snapshot');
      await startRecovered(deployment);
      timelines.add(JSON.stringify(await deployment.sql('select wal_timeline()')));
      await server.stop();
      await rm(server.folder, { recursive: true });
      await succeed('cp', ['-a', snapshot, server.folder]);
    }
    expect(timelines.size).toBe(3);
  });
});

it('The documented search for what was lost finds the procedures that change something, and no others', () => {
  const [search = ''] = blocksUnder('docs/recovery.md', 'What was lost', 'sh');
  const [, sought = '', leftOut = ''] = /procedure ~ '(.*)' and procedure !~ '(.*)'/.exec(search) ?? [];
  expect(leftOut).not.toBe('');
  const isFound = (procedure: string) => new RegExp(sought).test(procedure) && !new RegExp(leftOut).test(procedure);
  const procedures = allServices.flatMap(({ methods }) => methods);
  // A stream only reads.
  const changing = procedures
    .filter((method) => method.methodKind === 'unary' && isMutation(method))
    .map(procedureName);
  expect(procedures.map(procedureName).filter(isFound)).toEqual(changing);
});

/** Sets up an empty deployment with the fixture. */
async function deploy(folder: string, name: string, schema?: string): Promise<Deployment> {
  const deployment = await Deployment.create(folder, name, schema);
  const { owner, service } = deployment.urls;
  await migrate(owner, deployment.schema);
  await grantServiceRole(owner, service, deployment.schema);
  await deployment.sql(fixture);
  return deployment;
}

/** Starts a PostgreSQL that is to recover. Expects that no setting of it is left, and that its log is archived. */
async function startRecovered(deployment: Deployment): Promise<void> {
  const { server } = deployment;
  await server.start();
  await deployment.follow('Take the settings back');
  expect(await server.sql(`select name from pg_file_settings where name ~ '^(restore_|recovery_)'`)).toEqual([]);
  await server.sql('select pg_switch_wal()');
  const notArchived = `select name from pg_ls_archive_statusdir() where name like '%.ready'`;
  await expect.poll(() => server.sql(notArchived)).toEqual([]);
}

/** Makes several versions of the stores that will be lost. Resolves with the newest. */
async function storesWithLost(replica: Replica, lost: Records): Promise<number> {
  expect(await readCovering(replica, lost, 20_000)).toContain(lost.slotId);
  for (let left = 3; left > 0; left -= 1) await readCovering(replica, await createSlot(replica), 20_000);
  return (await replica.stores.getStoreStatus({})).version;
}

/** The versions that a running watch has been told of. */
function watch({ stores }: Replica): number[] {
  const told: number[] = [];
  const watching = async () => {
    for await (const { version } of stores.watchStore({})) told.push(version);
  };
  watching().catch(() => undefined);
  return told;
}

/** Expects that pages which have seen versions that were lost, and the last one that was not, are told of a new one. */
async function expectWatchToGoOn({ stores }: Replica, newest: number): Promise<void> {
  for (let afterVersion = newest - 4; afterVersion <= newest; afterVersion += 1) {
    for await (const { version } of stores.watchStore({ afterVersion }, { timeoutMs: 60_000 })) {
      expect(version).toBeGreaterThan(newest + 1_000);
      break;
    }
  }
}

interface Recovered {
  readonly slots: readonly Replica[];
  readonly coupon: Replica;
  readonly kept: Records;
  readonly lost: Records;
}

/** Writes, and waits until the stores show it. Resolves with how often the sweep had to refresh them instead of the queue. */
async function sweepsDuringWrite(replica: Replica): Promise<number> {
  const sweeps = () =>
    replica.logged('the job queue has left refresh requests waiting: the sweep refreshes the stores');
  const before = sweeps();
  await readCovering(replica, await createSlot(replica), 20_000);
  return sweeps() - before;
}

const wronglyCounted = `
  select from
    (select coupon_id, array[sum(held), sum(used), sum(released), sum(expired)] as counts from coupon_usage group by 1) as counted
    full join (
      select coupon_id, array[
        count(*) filter (where state = 'HELD'), count(*) filter (where state = 'USED'),
        count(*) filter (where state = 'RELEASED'), count(*) filter (where state = 'EXPIRED')
      ] as counts from redemptions group by 1
    ) as present using (coupon_id)
  where counted.counts is distinct from present.counts`;

/** Expects that the services show and do what is right by the database, and nothing of what was lost. */
async function expectRecovered(deployment: Deployment, { slots, coupon, kept, lost }: Recovered): Promise<void> {
  const [slot] = slots;
  if (slot === undefined) throw new Error('no slot-service is there');
  const callers = await Callers.of(slot, coupon);
  await expectTruth((text) => deployment.sql(text), slots);
  expect((await slot.slots.getDeliverySequence({ id: String(kept.slotId) })).deliverySequence).toBeDefined();
  expect(await callers.createSlot('KEPT-slot', 'again')).toMatchObject({ slotId: kept.slotId, isReplay: true });
  const again = await callers.createSlot('LOST-slot', 'again');
  expect(again).toMatchObject({ isReplay: false });
  expect(await callers.createSlot('LOST-slot', 'again')).toMatchObject({ slotId: again.slotId, isReplay: true });
  expect(again.slotId).toBeGreaterThan(lost.slotId + 3);

  expect(await callers.redeem(kept.code, 1)).toBe('Coupon limit reached');
  expect(await callers.redeem(kept.code, 2)).toBe('Coupon limit reached');
  await expect.poll(() => callers.redeem(kept.code, 3)).toBe('valid');
  expect(await callers.redeem(lost.code, 1)).toBe('Coupon not found or invalidated');
  const { redemptions } = await callers.redemptions.listRedemptions({ couponId: kept.couponId });
  expect(Math.max(...redemptions.map(({ id }) => id))).toBeGreaterThan(Math.max(...lost.redemptionIds));
  const [, held = 0] = kept.redemptionIds;
  const { redemption } = await callers.redemptions.confirm({ redemptionId: held });
  expect(redemption?.state).toBe(RedemptionState.USED);
  for (const redemptionId of lost.redemptionIds) {
    const refused = await failureOf(callers.redemptions.release({ redemptionId, reason: 'canceled' }));
    expect(refused.code).toBe(Code.NotFound);
  }
  const { usage } = await callers.redemptions.getUsage({ couponIds: [kept.couponId] });
  expect(usage).toMatchObject([{ held: 1, used: 2, expired: 1 }]);
  expect(await deployment.sql(wronglyCounted)).toEqual([]);

  // From then on, other transactions have the ids of those that were lost.
  await deployment.sql('do $$ begin for n in 1..5000 loop perform pg_current_xact_id(); commit; end loop; end $$');
  for (const each of slots) {
    await expect(failureOf(readCovering(each, lost, 20_000))).resolves.toMatchObject({ code: Code.Aborted });
    const written = await createSlot(each);
    for (const reader of slots) expect(await readCovering(reader, written, 20_000)).toContain(written.slotId);
    await expect(failureOf(readCovering(each, lost, 20_000))).resolves.toMatchObject({ code: Code.Aborted });
    await expect.poll(() => sweepsDuringWrite(each)).toBe(0);
  }

  const [entry] = (await callers.audit.listEntries({ resourceType: 'database' })).entries;
  const [last] = await deployment.sql<{ at: string }>(
    `select api_time(max(at)) as at from audit_entries where id < ${entry?.id}`,
  );
  expect(entry).toMatchObject({ procedure: 'recovered', after: { missingSince: last?.at } });
  await expect(deployment.sql('delete from audit_entries')).rejects.toThrow('append only');
  expect(
    await deployment.sql(`select from slots where not exists (
      select from audit_entries where resource_type = 'slot' and resource_id = slots.id)`),
  ).toEqual([]);
}

/** Expects that the documented search in the services' logs finds the calls whose changes were lost. */
async function expectLostToBeFound(
  deployment: Deployment,
  folder: string,
  { replicas, lost }: { readonly replicas: readonly Replica[]; readonly lost: Records },
): Promise<void> {
  for (const [index, { log }] of replicas.entries()) {
    // As Compose prints it, after what npm does.
    const lines = ['> delivery-admin start', ...log.map((line) => `slot-service-1  | ${JSON.stringify(line)}`)];
    await writeFile(path.join(folder, `${index}.log`), lines.map((line) => `${line}\n`).join(''));
  }
  const found = await deployment.follow('What was lost', 0, { cwd: folder });
  const requests = found.split('\n').flatMap((line) => /,([^,]+)$/.exec(line)?.[1] ?? []);
  const calls = ['slot', 'sequence', 'coupon', 'user-1', 'user-2', 'user-3', 'confirm'];
  expect(requests.filter((id) => id.startsWith(lost.code))).toEqual(calls.map((call) => `${lost.code}-${call}`));
  expect(requests.filter((id) => id.startsWith('KEPT'))).toEqual([]);
}
