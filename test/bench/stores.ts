import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { create, type DescMethodUnary } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { migrate } from '../../shared/db/migrate.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { signToken, testSecret } from '../support/tokens.ts';
import { callJson, pathOf } from './answers.ts';
import { mainOf, root } from './calls-stage.ts';
import { runSql } from './client.ts';
import { startBenchPostgres } from './data-postgres.ts';
import { loadSlots } from './data-slots.ts';
import { bodyFile, h2load } from './load.ts';
import { median } from './median.ts';
import { tableHead, tableRow, temporaryFolder } from './program.ts';
import { memoryOf, startServer } from './servers.ts';
import type { RefreshReport } from './stores-refresh.ts';

// npm run bench:stores -- [--slots 100000]: what the derived stores cost, as ratios measured side by side in one run, with
// the server on one core and the load on the other. Needs taskset and h2load (Debian: nghttp2-client).

const { values: options } = parseArgs({ options: { slots: { type: 'string', default: '10000' } } });
const slots = Number(options.slots);
// The ratio of a single round varies between 0.7 and 1.3.
const rounds = 15;
const productIds = [17];

type RefreshKind = 'scan' | 'all' | 'changed';

const postgres = await startBenchPostgres();
const folder = temporaryFolder();
const children: ChildProcess[] = [];
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
  const report = <Report>(file: string, kind: string, stay: boolean) =>
    new Promise<Report>((resolve, reject) => {
      const script = path.join(import.meta.dirname, file);
      const child = spawn('taskset', ['-c', '0', process.execPath, '--import', 'tsx', script, kind], {
        env,
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      if (stay) children.push(child);
      child.once('message', (message: Report) => resolve(message));
      child.once('exit', (code) => reject(new Error(`${file} ${kind} ended with ${code}`)));
    });

  const reports: Record<RefreshKind, RefreshReport[]> = { scan: [], all: [], changed: [] };
  for (let round = 0; round < 3; round += 1) {
    for (const kind of ['scan', 'all', 'changed'] as const) {
      reports[kind].push(await report<RefreshReport>('stores-refresh.ts', kind, false));
    }
  }
  const of = (kind: RefreshKind, field: keyof RefreshReport) => median(reports[kind].map((one) => one[field]));

  const token = await signToken({ staffId: 1 });
  const { getProductSlots, getOpenSlots } = SlotStoreService.method;
  const service = await startServer('slot-service', [mainOf(root, 'slot')], env, folder);
  const storesMb = await memoryOf(service);
  const { bytes: openSlotsBytes } = await callJson(service.webPort, getOpenSlots, '{}', token);
  const answeredMb = await memoryOf(service);
  await service.stop();

  const full = await report<number>('stores-server.ts', 'full', true);
  const bare = await report<number>('stores-server.ts', 'bare', true);
  const headers = { authorization: `Bearer ${token}` };

  const transport = createGrpcJsTransport(`127.0.0.1:${full}`);
  const check = await createClient(SlotStoreService, transport).getProductSlots({ productIds }, { headers });
  const answered = Object.values(check.slots).map(({ slots }) => slots.length);
  transport.close();

  const rates: { product: number[]; empty: number[] } = { product: [], empty: [] };
  const productFile = path.join(folder, 'product');
  const productBody = await bodyFile(
    productFile,
    getProductSlots.input,
    create(getProductSlots.input, { productIds }),
    false,
  );
  const emptyBody = await bodyFile(path.join(folder, 'empty'), getOpenSlots.input, create(getOpenSlots.input), false);
  for (let round = 0; round <= rounds; round += 1) {
    const product = await rate(full, getProductSlots, productBody, token);
    const empty = await rate(full, getOpenSlots, emptyBody, token);
    if (round === 0) continue; // warms up
    rates.product.push(product);
    rates.empty.push(empty);
  }

  const latencies: { full: number[]; bare: number[] } = { full: [], bare: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, port] of [
      ['full', full],
      ['bare', bare],
    ] as const) {
      const took = await writeLatencies(port, headers);
      if (round > 0) latencies[name].push(...took);
    }
  }

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
    [
      `GetProductSlots (${answered} slots), calls/s, against an empty answer`,
      fixed(median(rates.product)),
      fixed(median(rates.empty)),
      median(rates.product) / median(rates.empty),
      'at least 0.8',
    ],
    [
      'UpdateSlotCapacity, ms, against one without the refresh',
      fixed(median(latencies.full), 3),
      fixed(median(latencies.bare), 3),
      median(latencies.full) / median(latencies.bare),
      'at most 1.15',
    ],
  ];
  console.log(`\n${tableHead(['what', 'measured', 'against', 'ratio', 'target'])}`);
  for (const [what, left, right, ratio, target] of rows)
    console.log(tableRow([what, left, right, ratio.toFixed(2), target]));
} finally {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(
    children.map(
      (child) => new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve(0))),
    ),
  );
  await postgres.stop();
}

function fixed(value: number, digits = 0): string {
  return value.toFixed(digits);
}

/** Calls a second of one method under h2load. */
async function rate(port: number, method: DescMethodUnary, file: string, token: string): Promise<number> {
  const calls = { port, path: pathOf(method), bodyFile: file, json: false, token, answerBytes: 0, folder };
  return (await h2load(calls, { connections: 4, streams: 16 }, 20_000)).perSecond;
}

/** Milliseconds of writes one after the other. */
async function writeLatencies(port: number, headers: Record<string, string>): Promise<number[]> {
  const transport = createGrpcJsTransport(`127.0.0.1:${port}`);
  const client = createClient(SlotService, transport);
  const took: number[] = [];
  for (let n = 1; n <= 1_000; n += 1) {
    const start = performance.now();
    await client.updateSlotCapacity({ slotId: n, isCapacityFull: n % 2 === 0 }, { headers });
    took.push(performance.now() - start);
  }
  transport.close();
  return took;
}
