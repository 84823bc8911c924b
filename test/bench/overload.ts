import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { create, type DescMethodUnary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { callGrpc, pathOf } from './answers.ts';
import type { Stage } from './calls-sides.ts';
import { openStage } from './calls-stage.ts';
import { bodyFile, run } from './load.ts';
import { median } from './median.ts';
import type { MeasuredServer } from './servers.ts';

// npm run bench:overload: what a process still does at three times the calls that it can do. The service
// has core 0, PostgreSQL and the load have core 1. Needs taskset and h2load.

const seconds = 5;
const rounds = 2;
const overloadFactor = 3;

interface Target {
  readonly server: MeasuredServer;
  readonly path: string;
  readonly body: string;
  /** Of an accepted call; a refused one has no data. */
  readonly answerBytes: number;
  readonly token: string;
}

interface Outcome {
  readonly accepted: number;
  readonly refused: number;
  readonly megabytes: number;
}

/** Calls for some seconds, as fast as told. */
async function load(target: Target, connections: number, streams: number, perSecond?: number): Promise<Outcome> {
  const stdout = await run('h2load', [
    ...['-c', String(connections), '-m', String(streams), '-D', String(seconds)],
    ...(perSecond === undefined ? [] : [`--rps=${Math.round(perSecond / connections)}`]),
    ...['-d', target.body, '-H', 'content-type: application/grpc', '-H', 'te: trailers'],
    ...['-H', `authorization: Bearer ${target.token}`],
    `http://127.0.0.1:${target.server.grpcPort}${target.path}`,
  ]);
  const figure = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1]);
  const elapsed = figure(/finished in ([\d.]+)s/);
  const accepted = figure(/\((\d+)\) data/) / target.answerBytes;
  const megabytes = await memoryOf(target.server.pid);
  await target.server.forgetLog();
  return { accepted: accepted / elapsed, refused: (figure(/(\d+) done/) - accepted) / elapsed, megabytes };
}

async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

async function prepare<Method extends DescMethodUnary>(
  { token, folder }: Stage,
  server: MeasuredServer,
  method: Method,
  request: MessageShape<Method['input']>,
): Promise<Target> {
  const answer = await callGrpc(server.grpcPort, method, request, token);
  return {
    server,
    path: pathOf(method),
    body: await bodyFile(path.join(folder, method.name), method.input, request, false),
    answerBytes: toBinary(method.output, answer).length + 5,
    token,
  };
}

async function measure(name: string, target: Target): Promise<string> {
  // Its best, of a few callers and of as many as may be in flight.
  const sustainable: Outcome[] = [];
  for (const [connections, streams] of [
    [8, 8],
    [8, 16],
    [8, 32],
  ] as const) {
    for (let round = 0; round < 1; round += 1) sustainable.push(await load(target, connections, streams));
  }
  const peak = Math.max(...sustainable.map(({ accepted }) => accepted));
  const before = await memoryOf(target.server.pid);
  const overload: Outcome[] = [];
  for (let round = 0; round < rounds; round += 1) {
    overload.push(await load(target, 30, 100, peak * overloadFactor));
  }
  const of = (field: keyof Outcome) => median(overload.map((outcome) => outcome[field]));
  const cells = [
    name,
    peak.toFixed(0),
    of('accepted').toFixed(0),
    of('refused').toFixed(0),
    (of('accepted') / peak).toFixed(2),
    before.toFixed(0),
    overload.map(({ megabytes }) => megabytes.toFixed(0)).join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}

const folder = mkdtempSync(path.join(tmpdir(), 'delivery-admin-overload-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const stage = await openStage(folder, 0.001);
try {
  const { validate } = CouponService.method;
  const { getProductSlots } = SlotStoreService.method;
  const toValidate = create(validate.input, { code: stage.couponCode, userId: 1, orderAmount: 999.9 });
  const toRead = create(getProductSlots.input, { productIds: [17] });
  console.log(
    '| call | peak calls/s | accepted calls/s at 3 times | refused calls/s | ratio | RSS MB before | after each round |',
  );
  console.log('|---|--:|--:|--:|--:|--:|--:|');
  console.log(await measure('Validate', await prepare(stage, stage.coupon, validate, toValidate)));
  console.log(await measure('GetProductSlots', await prepare(stage, stage.slot, getProductSlots, toRead)));
} finally {
  await stage.close();
}
