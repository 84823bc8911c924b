import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createClient } from '@connectrpc/connect';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { signToken, withToken } from '../support/tokens.ts';
import { openStage } from './calls-stage.ts';
import type { MeasuredServer } from './servers.ts';

// npm run bench:worst: how long others wait while a caller without a staff identity sends the requests that
// cost the most, one after the other. Both services have core 0; PostgreSQL, that caller and the others
// have core 1. Needs taskset.

const seconds = 8;
const mebibyte = 1024 * 1024;

interface Worst {
  readonly name: string;
  readonly service: 'slot' | 'coupon';
  /** Of gRPC with `application/grpc`, else of Connect. */
  readonly contentType: string;
  readonly procedure: string;
  readonly body: Buffer;
  readonly encoding?: string;
}

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
const create = '/coupon.v1.CouponService/Create';
const worst: readonly Worst[] = [
  {
    name: 'GetProductSlots, one id 4 million times',
    service: 'slot',
    contentType: grpc,
    procedure: `${stores}/GetProductSlots`,
    body: field(1, bytes(4 * mebibyte - 64, 17)),
  },
  {
    name: 'GetProductSlots, one id 590,000 times',
    service: 'slot',
    contentType: grpc,
    procedure: `${stores}/GetProductSlots`,
    body: field(1, bytes(590_000, 17)),
  },
  {
    name: 'GetProductSlots, 990,000 ids',
    service: 'slot',
    contentType: grpc,
    procedure: `${stores}/GetProductSlots`,
    body: field(
      1,
      Buffer.concat(
        distinctIds(2_100_000, 990_000).map((id) =>
          Buffer.from([(id & 127) | 128, ((id >> 7) & 127) | 128, ((id >> 14) & 127) | 128, id >> 21]),
        ),
      ),
    ),
  },
  {
    name: 'GetProductSlots, 1,000 ids',
    service: 'slot',
    contentType: json,
    procedure: `${stores}/GetProductSlots`,
    body: Buffer.from(JSON.stringify({ productIds: distinctIds(1, 1_000) })),
  },
  {
    name: 'Create, spaces in a date',
    service: 'coupon',
    contentType: json,
    procedure: create,
    body: coupon(`a${' '.repeat(1_998)}b`),
  },
  {
    name: 'Create, brackets in a date',
    service: 'coupon',
    contentType: json,
    procedure: create,
    body: coupon('(a'.repeat(1_000)),
  },
  {
    name: 'CreateSlot, 2,000 dates',
    service: 'slot',
    contentType: json,
    procedure: `${slots}/CreateSlot`,
    body: snippets(2_000, `a${' '.repeat(1_900)}b`),
  },
  {
    name: 'JSON, 3.6 MB deep',
    service: 'slot',
    contentType: json,
    procedure: update,
    body: sequence('['.repeat(1_800_000) + ']'.repeat(1_800_000)),
  },
  {
    name: 'JSON, 3.6 MB deep, compressed',
    service: 'slot',
    contentType: json,
    procedure: update,
    body: gzipSync(sequence('['.repeat(1_800_000) + ']'.repeat(1_800_000))),
    encoding: 'gzip',
  },
  {
    name: 'JSON, a million objects',
    service: 'slot',
    contentType: json,
    procedure: update,
    body: sequence(`[${'{},'.repeat(1_000_000)}1]`),
  },
  {
    name: 'JSON, as many objects as are taken',
    service: 'slot',
    contentType: json,
    procedure: update,
    body: sequence(`[${'{},'.repeat(23_990)}1]`),
  },
  {
    name: 'JSON, as many keys as are taken',
    service: 'slot',
    contentType: json,
    procedure: update,
    body: sequence(`{${Array.from({ length: 23_990 }, (_, at) => `"${at}":1`).join()}}`),
  },
  {
    name: 'JSON, as many integers as are taken',
    service: 'slot',
    contentType: json,
    procedure: update,
    body: sequence(`[${'7,'.repeat(119_990)}1]`),
  },
  {
    name: 'binary, two million values',
    service: 'slot',
    contentType: proto,
    procedure: update,
    body: Buffer.concat([Buffer.from([8, 1]), field(2, field(6, bytes(4_000_000, 10, 0)))]),
  },
  {
    name: 'binary, as many values as are taken',
    service: 'slot',
    contentType: grpc,
    procedure: update,
    body: Buffer.concat([Buffer.from([8, 1]), field(2, field(6, bytes(239_980, 10, 0)))]),
  },
  {
    name: 'binary, two million snippets',
    service: 'slot',
    contentType: grpc,
    procedure: `${slots}/CreateSlot`,
    body: bytes(4_000_000, 42, 0),
  },
];

/** Sends one after the other until it is over. Gives how many were answered. */
async function attack(server: MeasuredServer, token: string, each: Worst, isOver: () => boolean): Promise<number> {
  let sent = 0;
  const authorization = `Bearer ${token}`;
  if (each.contentType !== grpc) {
    const headers = {
      'content-type': each.contentType,
      authorization,
      ...(each.encoding && { 'content-encoding': each.encoding }),
    };
    for (; !isOver(); sent += 1) {
      const answer = await fetch(`http://127.0.0.1:${server.webPort}${each.procedure}`, {
        method: 'POST',
        headers,
        body: each.body,
      });
      await answer.arrayBuffer();
    }
    return sent;
  }
  const session = connect(`http://127.0.0.1:${server.grpcPort}`);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(each.body.length, 1);
  const headers = { ':method': 'POST', ':path': each.procedure, 'content-type': grpc, te: 'trailers', authorization };
  for (; !isOver(); sent += 1) {
    await new Promise((resolve, reject) => {
      const stream = session.request(headers).on('error', reject).on('close', resolve).resume();
      stream.end(Buffer.concat([head, each.body]));
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

async function memoryOf({ pid }: MeasuredServer): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return (Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024).toFixed(0);
}

const only = process.argv.includes('--only') ? (process.argv[process.argv.indexOf('--only') + 1] ?? '') : '';
const folder = mkdtempSync(path.join(tmpdir(), 'delivery-admin-worst-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const stage = await openStage(folder, 0.001);
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
  const nothing = {
    name: 'nothing',
    service: 'slot',
    contentType: json,
    procedure: '',
    body: Buffer.alloc(0),
  } as const;
  console.log(
    '| sent again and again | answered | GetStoreStatus p50, p99, most ms | Validate p50, p99, most ms | most MB, slot, coupon |',
  );
  console.log('|---|--:|--:|--:|--:|');
  for (const each of [nothing, ...worst].filter(({ name }) => name.includes(only))) {
    const end = performance.now() + seconds * 1_000;
    const isOver = () => performance.now() > end;
    const sending =
      each === nothing
        ? Promise.resolve(0)
        : attack(each.service === 'slot' ? stage.slot : stage.coupon, guest, each, isOver);
    const times = await Promise.all(small.map((call) => probe(call, isOver)));
    const cells = times.map((sorted) =>
      [0.5, 0.99, 1].map((share) => (sorted[Math.ceil(sorted.length * share) - 1] ?? 0).toFixed(1)).join(', '),
    );
    const memory = await Promise.all([stage.slot, stage.coupon].map(memoryOf));
    console.log(`| ${[each.name, await sending, ...cells, memory.join(', ')].join(' | ')} |`);
  }
  for (const transport of transports) transport.close();
} finally {
  await stage.close();
}
