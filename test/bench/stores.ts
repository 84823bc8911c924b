import { spawn } from 'node:child_process';
import path from 'node:path';
import { migrate } from '../../shared/db/migrate.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { signToken } from '../support/tokens.ts';
import { callJson } from './answers.ts';
import { mainOf, root } from './calls-stage.ts';
import { runSql } from './client.ts';
import { loadSlots } from './data-slots.ts';
import { median } from './median.ts';
import { onPostgres, positive, readOptions, tableHead, tableRow, temporaryFolder } from './program.ts';
import { environmentOf, memoryOf, startServer } from './servers.ts';
import type { RefreshReport } from './stores-refresh.ts';

// npm run bench:stores -- [--slots 100000]: what a refresh of the derived stores costs, as ratios measured side by side in one run,
// and the memory that they take. Needs taskset.

const slots = positive(readOptions({ slots: '10000' }).options, 'slots');

type RefreshKind = 'scan' | 'all' | 'changed';

const folder = temporaryFolder();
await onPostgres(async (postgres) => {
  const url = await postgres.createDatabase('stores');
  await migrate(url);
  await runSql(url, `insert into staff_users (id, name) values (1, 'Bench')`);
  await loadSlots(url, slots);
  console.error(`loaded ${slots} slots`);
  const env = { ...process.env, ...environmentOf('slot', url) };
  const report = (kind: RefreshKind) =>
    new Promise<RefreshReport>((resolve, reject) => {
      const script = path.join(import.meta.dirname, 'stores-refresh.ts');
      const args = ['-c', '0', process.execPath, '--import', 'tsx', script, kind];
      const child = spawn('taskset', args, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
      child.once('message', (message: RefreshReport) => resolve(message));
      child.once('exit', (code) => reject(new Error(`${kind} ended with ${code}`)));
    });

  const reports: Record<RefreshKind, RefreshReport[]> = { scan: [], all: [], changed: [] };
  for (let round = 0; round < 3; round += 1) {
    for (const kind of ['scan', 'all', 'changed'] as const) reports[kind].push(await report(kind));
  }
  const of = (kind: RefreshKind, field: keyof RefreshReport) => median(reports[kind].map((one) => one[field]));

  const token = await signToken({ staffId: 1 });
  const { getOpenSlots } = SlotStoreService.method;
  const service = await startServer('slot-service', [mainOf(root, 'slot')], env, folder);
  const storesMb = await memoryOf(service);
  const { bytes: openSlotsBytes } = await callJson(service.webPort, getOpenSlots, '{}', token);
  const answeredMb = await memoryOf(service);
  await service.stop();

  const fixed = (value: number, digits: number) => value.toFixed(digits);
  const megabytes = fixed(openSlotsBytes / 1e6, 1);
  const ofAll = (field: keyof RefreshReport, against: RefreshKind) => [of('all', field), of(against, field)] as const;
  const rows: readonly (readonly [what: string, measured: readonly [number, number], target: string])[] = [
    [
      `refresh of all ${slots} slots, ms, against the bare scan`,
      ofAll('ms', 'scan'),
      'below 5,000 ms for 100,000 slots',
    ],
    ['refresh of one changed slot, ms, against that of all', [of('changed', 'ms'), of('all', 'ms')], ''],
    ['longest stall in the refresh of all, ms, against that of one', ofAll('stallMs', 'changed'), 'below 50 ms'],
    ['refresh of all, peak MB, against the bare scan', ofAll('peakMb', 'scan'), 'below 1,000 MB'],
    [
      `slot-service after a GetOpenSlots of ${megabytes} MB in JSON, MB, against with the stores alone`,
      [answeredMb, storesMb],
      'below 1,000 MB',
    ],
  ];
  console.log(`\n${tableHead(['what', 'measured', 'against', 'ratio', 'target'])}`);
  for (const [what, [left, right], target] of rows)
    console.log(tableRow([what, fixed(left, 1), fixed(right, 1), fixed(left / right, 2), target]));
});
