import { gzipSync } from 'node:zlib';
import { toJsonText, toWire } from './draft-encoding.ts';
import type { FuzzRequest } from './exchange.ts';
import { credential, oddHeadersOf } from './headers.ts';
import { faultyEnvelopes, faultyGzip, mutate, soundEnvelope } from './mutations.ts';
import { chooseTarget } from './procedures.ts';
import type { Random } from './random.ts';
import { type Body, misled, requestOf } from './requests-http.ts';

/** Connect by POST, in JSON or in protobuf; requests of streams have envelopes. */
export function connectRequest(random: Random): FuzzRequest {
  const target = chooseTarget(random);
  const isJson = random.chance(0.6);
  const format = isJson ? 'json' : 'proto';
  const message = isJson
    ? Buffer.from(toJsonText(target.draft, random, target.oddity))
    : toWire(target.draft, random, target.oddity);
  if (target.isStream) {
    const { kind, body, encoding } = random.chance(0.6) ? soundEnvelope(message) : faultyEnvelopes(message, random);
    const headers = encoding === undefined ? [] : [['connect-content-encoding', encoding] as const];
    const given = { kind, content: body, headers };
    const right = requestOf(target, `Connect ${format}`, `application/connect+${format}`, given, random);
    return misled(right, target, random);
  }
  const body = random.weighted<() => Body>([
    [60, () => ({ kind: 'structured', content: message })],
    [25, () => ({ kind: 'mutated message', content: mutate(message, random) })],
    [4, () => ({ kind: 'random message', content: random.bytes(random.int(0, 60)) })],
    [2, () => ({ kind: 'no body', content: Buffer.alloc(0) })],
    [3, () => ({ kind: 'gzip', content: gzipSync(message), headers: [['content-encoding', 'gzip']] })],
    [6, () => ({ kind: 'faulty gzip', content: faultyGzip(message, random), headers: [['content-encoding', 'gzip']] })],
  ])();
  return misled(requestOf(target, `Connect ${format}`, `application/${format}`, body, random), target, random);
}

/** gRPC-Web, in binary form or as text. */
export function grpcWebRequest(random: Random): FuzzRequest {
  const target = chooseTarget(random);
  const message = toWire(target.draft, random, target.oddity);
  const { kind, body, encoding } = random.chance(0.55) ? soundEnvelope(message) : faultyEnvelopes(message, random);
  const isText = random.chance(0.1);
  const content = isText ? Buffer.from(random.chance(0.9) ? body.toString('base64') : mutate(body, random)) : body;
  const headers = encoding === undefined ? [] : [['grpc-encoding', encoding] as const];
  const type = isText
    ? 'application/grpc-web-text+proto'
    : random.pick(['application/grpc-web+proto', 'application/grpc-web']);
  const given = { kind, content, headers };
  return misled(requestOf(target, isText ? 'gRPC-Web text' : 'gRPC-Web', type, given, random), target, random);
}

/** Connect by GET, also for procedures that do not allow it. */
export function connectGetRequest(random: Random): FuzzRequest {
  const target = chooseTarget(random);
  const isJson = random.chance(0.5);
  const message = isJson
    ? Buffer.from(toJsonText(target.draft, random, target.oddity))
    : toWire(target.draft, random, target.oddity);
  const isMutated = random.chance(0.4);
  const bytes = isMutated ? mutate(message, random) : message;
  const compression = random.weighted([
    [20, ''],
    [1, 'gzip'],
    [1, 'br'],
  ]);
  const packed = compression === 'gzip' ? (random.chance(0.5) ? gzipSync(bytes) : faultyGzip(message, random)) : bytes;
  const isBase64 = !isJson || compression !== '' || random.chance(0.3);
  const text = isBase64
    ? packed.toString(random.pick<BufferEncoding>(['base64url', 'base64url', 'base64'])) +
      random.pick(['', '', '', '=', '%', '!'])
    : [...packed].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const queries = [
    random.pick(['connect=v1', 'connect=v1', 'connect=v1', 'connect=v2', '', 'connect']),
    `encoding=${random.weighted([
      [20, isJson ? 'json' : 'proto'],
      [1, 'xml'],
      [1, ''],
    ])}`,
    `message=${text.slice(0, 12_000)}`,
    ...(isBase64 ? [random.pick(['base64=1', 'base64=1', 'base64=1', 'base64=0', 'base64=x'])] : []),
    ...(compression === '' ? [] : [`compression=${compression}`]),
    ...(random.chance(0.1)
      ? [random.pick(['message=', 'encoding=proto', '&&', '%zz=1', 'x'.repeat(100), 'base64=1&base64=0'])]
      : []),
  ];
  const odd = random.chance(0.1) ? oddHeadersOf(random, 'http1') : { headers: [], breaksHttp: false };
  return {
    over: 'http1',
    service: target.service,
    label: { protocol: 'Connect GET', procedure: target.name, kind: isMutated ? 'mutated message' : 'structured' },
    mayBeLost: odd.breaksHttp,
    method: 'GET',
    path: `${target.path}?${queries.join('&')}`,
    headers: [...credential(random), ...odd.headers],
    body: '',
    leaveAfterMs: 5_000,
  };
}
