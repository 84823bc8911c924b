import { spawn } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '../../shared/db/migrate.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { signToken, testSecret } from '../support/tokens.ts';
import { callJson } from './answers.ts';
import { mainOf, root } from './calls-stage.ts';
import { runSql } from './client.ts';
import { startBenchPostgres } from './data-postgres.ts';
import { loadSlots } from './data-slots.ts';
import { median } from './median.ts';
import { tableHead, tableRow, temporaryFolder } from './program.ts';
import { memoryOf, startServer } from './servers.ts';
import type { RefreshReport } from './stores-refresh.ts';

// npm run bench:stores -- [--slots 100000]: what a refresh of the derived stores costs, as ratios measured side by side in one run,
// and the memory that they take. Needs taskset.

const { values: options } = parseArgs({ options: { slots: { type: 'string', default: '10000' } } });
const slots = Number(options.slots);

type RefreshKind = 'scan' | 'all' | 'changed';

const postgres = await startBenchPostgres();
const folder = temporaryFolder();
try {
  const url = await postgres.createDatabase('stores');
  await migrate(url);
  await runSql(url, `insert into staff_users (id, name) values (1, 'Bench')`);
  await loadSlots(url, slots);
  console.error(`loaded ${slots} slots`);
  const env = {
    ...process.env,
    DATABASE_URL: url,
    AUTH_JWT_SECRET: testSecret,
    SLOT_GRPC_PORT: '0',
    SLOT_WEB_PORT: '0',
  };
  const report = (kind: RefreshKind) =>
    new Promise<RefreshReport>((resolve, reject) => {
      const script = path.join(import.meta.dirname, 'stores-refresh.ts');
      const child = spawn('taskset', ['-c', '0', process.execPath, '--import', 'tsx', script, kind], {
        env,
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      child.once('message', (message: RefreshReport) => resolve(message));
      child.once('exit', (code) => reject(new Error(`${kind} ended with ${code}`)));
    });

  const reports: Record<RefreshKind, RefreshReport[]> = { scan: [], all: [], changed: [] };
  for (let round = 0; round < 3; round += 1) {
    for (const kind of ['scan', 'all', 'changed'] as const) {
      reports[kind].push(await report(kind));
    }
  }
  const of = (kind: RefreshKind, field: keyof RefreshReport) => median(reports[kind].map((one) => one[field]));

  const token = await signToken({ staffId: 1 });
  const { getOpenSlots } = SlotStoreService.method;
  const service = await startServer('slot-service', [mainOf(root, 'slot')], env, folder);
  const storesMb = await memoryOf(service);
  const { bytes: openSlotsBytes } = await callJson(service.webPort, getOpenSlots, '{}', token);
  const answeredMb = await memoryOf(service);
  await service.stop();

  const rows: [string, string, string, number, string][] = [
    [
      `refresh of all ${slots} slots, ms, against the bare scan`,
      fixed(of('all', 'ms')),
      fixed(of('scan', 'ms')),
      of('all', 'ms') / of('scan', 'ms'),
      'below 5,000 ms for 100,000 slots',
    ],
    [
      'refresh of one changed slot, ms, against that of all',
      fixed(of('changed', 'ms'), 1),
      fixed(of('all', 'ms')),
      of('changed', 'ms') / of('all', 'ms'),
      '',
    ],
    [
      'longest stall in the refresh of all, ms, against that of one',
      fixed(of('all', 'stallMs'), 1),
      fixed(of('changed', 'stallMs'), 1),
      of('all', 'stallMs') / of('changed', 'stallMs'),
      'below 50 ms',
    ],
    [
      'refresh of all, peak MB, against the bare scan',
      fixed(of('all', 'peakMb')),
      fixed(of('scan', 'peakMb')),
      of('all', 'peakMb') / of('scan', 'peakMb'),
      'below 1,000 MB',
    ],
    [
      `slot-service after a GetOpenSlots of ${fixed(openSlotsBytes / 1e6, 1)} MB in JSON, MB, against with the stores alone`,
      fixed(answeredMb),
      fixed(storesMb),
      answeredMb / storesMb,
      'below 1,000 MB',
    ],
  ];
  console.log(`\n${tableHead(['what', 'measured', 'against', 'ratio', 'target'])}`);
  for (const [what, left, right, ratio, target] of rows)
    console.log(tableRow([what, left, right, ratio.toFixed(2), target]));
} finally {
  await postgres.stop();
}

function fixed(value: number, digits = 0): string {
  return value.toFixed(digits);
}
