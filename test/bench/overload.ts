import path from 'node:path';
import { create, type DescMethodUnary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { callGrpc, pathOf } from './answers.ts';
import type { Stage } from './calls-sides.ts';
import { openStage } from './calls-stage.ts';
import { bodyFile, run } from './load.ts';
import { median } from './median.ts';
import { tableHead, tableRow, temporaryFolder } from './program.ts';
import { type MeasuredServer, memoryOf } from './servers.ts';

// npm run bench:overload: what a process still does at three times the calls that it can do. The service
// has core 0, PostgreSQL and the load have core 1, where PostgreSQL comes first: elsewhere the load has
// machines of its own. Needs taskset and h2load.

const seconds = 4;
const rounds = 4;
const connections = 8;
/** Calls in flight on each connection, of which one has the most calls answered. */
const sustainableStreams = [8, 16, 32];
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
async function load(
  { server, path, body, answerBytes, token }: Target,
  connections: number,
  streams: number,
  perSecond?: number,
): Promise<Outcome> {
  const stdout = await run('nice', [
    ...['-n', '19', 'h2load', '-c', String(connections), '-m', String(streams), '-D', String(seconds)],
    ...(perSecond === undefined ? [] : [`--rps=${Math.round(perSecond / connections)}`]),
    ...['-d', body, '-H', 'content-type: application/grpc', '-H', 'te: trailers'],
    ...['-H', `authorization: Bearer ${token}`],
    `http://127.0.0.1:${server.grpcPort}${path}`,
  ]);
  const figure = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1]);
  const elapsed = figure(/finished in ([\d.]+)s/);
  const accepted = figure(/\((\d+)\) data/) / answerBytes;
  const megabytes = await memoryOf(server);
  await server.forgetLog();
  return { accepted: accepted / elapsed, refused: (figure(/(\d+) done/) - accepted) / elapsed, megabytes };
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
  // Warm, and its best way is known.
  await load(target, connections, 16);
  let best = { accepted: 0, streams: 0 };
  for (const streams of sustainableStreams) {
    const { accepted } = await load(target, connections, streams);
    if (accepted > best.accepted) best = { accepted, streams };
  }
  const peaks: Outcome[] = [];
  const overloads: Outcome[] = [];
  for (let round = 0; round < rounds; round += 1) {
    peaks.push(await load(target, connections, best.streams));
    overloads.push(await load(target, 30, 100, best.accepted * overloadFactor));
  }
  const medianOf = (outcomes: readonly Outcome[], field: keyof Outcome) =>
    median(outcomes.map((outcome) => outcome[field]));
  const [peak, accepted] = [medianOf(peaks, 'accepted'), medianOf(overloads, 'accepted')];
  const figures = [peak, accepted, medianOf(overloads, 'refused')].map((figure) => figure.toFixed(0));
  const memory = [peaks, overloads].map((of) => of.map(({ megabytes }) => megabytes.toFixed(0)).join(', '));
  return tableRow([name, ...figures, (accepted / peak).toFixed(2), ...memory]);
}

const stage = await openStage(temporaryFolder(), 0.001);
try {
  const { validate } = CouponService.method;
  const { getProductSlots } = SlotStoreService.method;
  const toValidate = create(validate.input, { code: stage.couponCodes[0] ?? '', userId: 1, orderAmount: 999.9 });
  const toRead = create(getProductSlots.input, { productIds: [17] });
  const targets = [
    { name: 'Validate', target: await prepare(stage, stage.coupon, validate, toValidate) },
    { name: 'GetProductSlots', target: await prepare(stage, stage.slot, getProductSlots, toRead) },
  ];
  const figures = ['peak calls/s', 'accepted calls/s at 3 times', 'refused calls/s', 'ratio'];
  console.log(tableHead(['call', ...figures, 'RSS MB after each peak', 'after each overload']));
  for (const { name, target } of targets) console.log(await measure(name, target));
} finally {
  await stage.close();
}
