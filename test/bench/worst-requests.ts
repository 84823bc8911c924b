import { connect } from 'node:http2';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createClient } from '@connectrpc/connect';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { signToken, withToken } from '../support/tokens.ts';
import { openStage } from './calls-stage.ts';
import { frame } from './load.ts';
import { readOptions, tableHead, tableRow, temporaryFolder } from './program.ts';
import { type MeasuredServer, memoryOf } from './servers.ts';

// npm run bench:worst: how long others wait while a caller without a staff identity sends the requests that
// cost the most, one after the other. Both services have core 0; PostgreSQL, that caller and the others
// have core 1. Needs taskset.

const seconds = 8;
const mebibyte = 1024 * 1024;

type Service = 'slot' | 'coupon';
/** Over gRPC with the content type of `grpc`, else over Connect. */
type Worst = readonly [name: string, Service, type: string, procedure: string, body: Buffer, encoding?: string];

const json = 'application/json';
const grpc = 'application/grpc';
const proto = 'application/proto';

/** A length-delimited field of the binary form. */
function field(number: number, content: Buffer): Buffer {
  const size: number[] = [];
  let rest = content.length;
  for (; rest > 127; rest = Math.floor(rest / 128)) size.push((rest % 128) | 128);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...size, rest]), content]);
}

const bytes = (count: number, ...pattern: number[]) => Buffer.alloc(count, Buffer.from(pattern));
const distinctIds = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);
const sequence = (value: string) => Buffer.from(`{"id":1,"deliverySequence":${value}}`);
const coupon = (validTill: string) => Buffer.from(JSON.stringify({ coupon: { discountPercent: 1, validTill } }));
const snippets = (count: number, validTill: string) => {
  const vendorSnippets = Array.from({ length: count }, (_, at) => ({ name: `s${at}`, productIds: [1], validTill }));
  return Buffer.from(JSON.stringify({ deliveryTime: 'x', freezeTime: 'x', vendorSnippets }));
};

const stores = '/slot.v1.SlotStoreService';
const slots = '/slot.v1.SlotService';
const update = `${slots}/UpdateDeliverySequence`;
const createSlot = `${slots}/CreateSlot`;
const create = '/coupon.v1.CouponService/Create';
const products = `${stores}/GetProductSlots`;
const deep = sequence('['.repeat(1_800_000) + ']'.repeat(1_800_000));
const keys = Array.from({ length: 23_990 }, (_, at) => `"${at}":1`).join();
const values = (size: number) => Buffer.concat([Buffer.from([8, 1]), field(2, field(6, bytes(size, 10, 0)))]);
/** An id of four bytes. */
const varint = (id: number) => Buffer.from([...[0, 7, 14].map((at) => ((id >> at) & 127) | 128), id >> 21]);
const worst: readonly Worst[] = [
  ['GetProductSlots, one id 4 million times', 'slot', grpc, products, field(1, bytes(4 * mebibyte - 64, 17))],
  ['GetProductSlots, one id 590,000 times', 'slot', grpc, products, field(1, bytes(590_000, 17))],
  [
    ...(['GetProductSlots, 990,000 ids', 'slot', grpc, products] as const),
    field(1, Buffer.concat(distinctIds(2_100_000, 990_000).map(varint))),
  ],
  [
    ...(['GetProductSlots, 1,000 ids', 'slot', json, products] as const),
    Buffer.from(JSON.stringify({ productIds: distinctIds(1, 1_000) })),
  ],
  ['Create, spaces in a date', 'coupon', json, create, coupon(`a${' '.repeat(1_998)}b`)],
  ['Create, brackets in a date', 'coupon', json, create, coupon('(a'.repeat(1_000))],
  ['CreateSlot, 2,000 dates', 'slot', json, createSlot, snippets(2_000, `a${' '.repeat(1_900)}b`)],
  ['JSON, 3.6 MB deep', 'slot', json, update, deep],
  ['JSON, 3.6 MB deep, compressed', 'slot', json, update, gzipSync(deep), 'gzip'],
  ['JSON, a million objects', 'slot', json, update, sequence(`[${'{},'.repeat(1_000_000)}1]`)],
  ['JSON, as many objects as are taken', 'slot', json, update, sequence(`[${'{},'.repeat(23_990)}1]`)],
  ['JSON, as many keys as are taken', 'slot', json, update, sequence(`{${keys}}`)],
  ['JSON, as many integers as are taken', 'slot', json, update, sequence(`[${'7,'.repeat(119_990)}1]`)],
  ['binary, two million values', 'slot', proto, update, values(4_000_000)],
  ['binary, as many values as are taken', 'slot', grpc, update, values(239_980)],
  ['binary, two million snippets', 'slot', grpc, createSlot, bytes(4_000_000, 42, 0)],
];

/** Sends one after the other until it is over. Gives how many were answered. */
async function attack(server: MeasuredServer, token: string, worst: Worst, isOver: () => boolean): Promise<number> {
  const [, , type, path, body, encoding] = worst;
  const headers = { 'content-type': type, authorization: `Bearer ${token}` };
  let sent = 0;
  if (type !== grpc) {
    const all = { ...headers, ...(encoding && { 'content-encoding': encoding }) };
    const url = `http://127.0.0.1:${server.webPort}${path}`;
    for (; !isOver(); sent += 1) await (await fetch(url, { method: 'POST', headers: all, body })).arrayBuffer();
    return sent;
  }
  const session = connect(`http://127.0.0.1:${server.grpcPort}`);
  for (; !isOver(); sent += 1) {
    await new Promise((resolve, reject) => {
      const stream = session.request({ ':method': 'POST', ':path': path, te: 'trailers', ...headers });
      stream.on('error', reject).on('close', resolve).resume().end(frame(body));
    });
  }
  session.close();
  return sent;
}

/** Calls again and again, with a pause between. Gives how long each call took, in milliseconds. */
async function probe(call: () => Promise<unknown>, isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!isOver()) {
    const start = performance.now();
    await call();
    times.push(performance.now() - start);
    await pause(5);
  }
  return times.sort((left, right) => left - right);
}

const { only } = readOptions({ only: '' }).options;
const stage = await openStage(temporaryFolder(), 0.001);
try {
  const [guest, other] = await Promise.all([signToken({ subject: 'attacker' }), signToken({ subject: 'other' })]);
  const transports = [stage.slot, stage.coupon].map(({ grpcPort }) => createGrpcJsTransport(`127.0.0.1:${grpcPort}`));
  const [slotTransport, couponTransport] = transports;
  if (!slotTransport || !couponTransport) throw new Error('there are two services');
  const storeReads = createClient(SlotStoreService, withToken(slotTransport, other));
  const couponReads = createClient(CouponService, withToken(couponTransport, other));
  const small = [
    () => storeReads.getStoreStatus({}),
    () => couponReads.validate({ code: stage.couponCodes[0] ?? '', userId: 1, orderAmount: 999.9 }),
  ];
  const figures = ['GetStoreStatus p50, p99, most ms', 'Validate p50, p99, most ms', 'most MB, slot, coupon'];
  console.log(tableHead(['sent again and again', 'answered', ...figures]));
  for (const each of [undefined, ...worst]) {
    const [name, service = 'slot'] = each ?? ['nothing'];
    if (!name.includes(only)) continue;
    const end = performance.now() + seconds * 1_000;
    const isOver = () => performance.now() > end;
    const sending = each === undefined ? 0 : attack(stage[service], guest, each, isOver);
    const times = await Promise.all(small.map((call) => probe(call, isOver)));
    const cells = times.map((sorted) =>
      [0.5, 0.99, 1].map((share) => (sorted[Math.ceil(sorted.length * share) - 1] ?? 0).toFixed(1)).join(', '),
    );
    const memory = await Promise.all([stage.slot, stage.coupon].map((server) => memoryOf(server, 'VmHWM')));
    console.log(tableRow([name, await sending, ...cells, memory.map((most) => most.toFixed(0)).join(', ')]));
  }
  for (const transport of transports) transport.close();
} finally {
  await stage.close();
}
