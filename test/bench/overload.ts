import path from 'node:path';
import { create, type DescMethodUnary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { signToken } from '../support/tokens.ts';
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
const calmCallers = 9;
/** What the tenth caller sends, as a multiple of each of the others. */
const greed = 20;

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
  const { accepted, done, elapsed } = await call(target, connections, streams, perSecond);
  const megabytes = await memoryOf(target.server);
  await target.server.forgetLog();
  return { accepted: accepted / elapsed, refused: (done - accepted) / elapsed, megabytes };
}

async function call(
  { server, path, body, answerBytes, token }: Target,
  connections: number,
  streams: number,
  perSecond?: number,
  niceness = 19,
) {
  const stdout = await run('nice', [
    ...['-n', String(niceness), 'h2load'],
    ...['-c', String(connections), '-m', String(streams), '-D', String(seconds)],
    ...(perSecond === undefined ? [] : [`--rps=${Math.round(perSecond / connections)}`]),
    ...['-d', body, '-H', 'content-type: application/grpc', '-H', 'te: trailers'],
    ...['-H', `authorization: Bearer ${token}`],
    `http://127.0.0.1:${server.grpcPort}${path}`,
  ]);
  const figure = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1]);
  return {
    accepted: figure(/\((\d+)\) data/) / answerBytes,
    done: figure(/(\d+) done/),
    elapsed: figure(/finished in ([\d.]+)s/),
  };
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

/**
 * Nine callers with a connection each, and a tenth that sends 20 times as much as each of them, together
 * twice what the process can do.
 */
async function measureShares(name: string, target: Target, peak: number): Promise<string> {
  const perSecond = (2 * peak) / (calmCallers + greed);
  const greedy = call(target, 20, 100, greed * perSecond);
  const calm = Array.from({ length: calmCallers }, async (_, at) => {
    const token = await signToken({ staffId: 1, subject: `calm ${at}` });
    // They come before the greedy one, which would keep them from sending: all share a core here.
    return call({ ...target, token }, 1, 100, perSecond, 10);
  });
  const outcomes = await Promise.all(calm);
  const { accepted, elapsed } = await greedy;
  await target.server.forgetLog();
  const sum = (field: 'accepted' | 'done') => outcomes.reduce((total, outcome) => total + outcome[field], 0);
  const sent = calmCallers * perSecond * seconds;
  return tableRow([
    name,
    perSecond.toFixed(0),
    `${((100 * sum('accepted')) / sum('done')).toFixed(1)} %`,
    `${((100 * sum('accepted')) / sent).toFixed(1)} %`,
    (accepted / elapsed).toFixed(0),
  ]);
}

async function measure(name: string, target: Target): Promise<{ row: string; peak: number }> {
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
  const cells = [
    name,
    peak.toFixed(0),
    accepted.toFixed(0),
    medianOf(overloads, 'refused').toFixed(0),
    (accepted / peak).toFixed(2),
    ...[peaks, overloads].map((outcomes) => outcomes.map(({ megabytes }) => megabytes.toFixed(0)).join(', ')),
  ];
  return { row: tableRow(cells), peak };
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
  const shares: string[] = [];
  for (const { name, target } of targets) {
    const { row, peak } = await measure(name, target);
    console.log(row);
    shares.push(await measureShares(name, target, peak));
  }
  const answered = ['calls/s of each', 'of those answered, accepted', 'of those due, accepted'];
  const callers = `${calmCallers} callers beside one of ${greed} times as much`;
  console.log(`\n${tableHead([callers, ...answered, 'calls/s of the greedy one'])}`);
  for (const row of shares) console.log(row);
} finally {
  await stage.close();
}
