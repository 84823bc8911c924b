import { gzipSync } from 'node:zlib';
import { toJsonText, toWire } from './draft-encoding.ts';
import type { FuzzRequest, HttpExchange } from './exchange.ts';
import { credential, oddHeadersOf } from './headers.ts';
import { envelope, faultyEnvelopes, faultyGzip, mutate } from './mutations.ts';
import { chooseTarget, oddPath, type Target } from './procedures.ts';
import type { Random } from './random.ts';

interface Body {
  readonly kind: string;
  readonly content: Buffer;
  readonly headers?: HttpExchange['headers'];
}

function requestOf(target: Target, protocol: string, type: string, body: Body, random: Random): HttpExchange {
  return {
    over: 'http1',
    service: target.service,
    label: { protocol, procedure: target.name, kind: body.kind },
    mayBeLost: false,
    method: 'POST',
    path: target.path,
    headers: [['content-type', type], ...credential(random), ...(body.headers ?? [])],
    body: body.content.toString('base64'),
    ...(target.isStream || random.chance(0.02) ? { leaveAfterMs: random.int(0, target.isStream ? 60 : 8) } : {}),
  };
}

/** The same request, sometimes with a fault outside its body. */
function misled(right: HttpExchange, target: Target, random: Random): HttpExchange {
  const as = (kind: string, other: Partial<HttpExchange>) => ({ ...right, ...other, label: { ...right.label, kind } });
  const types = [
    ...['application/json; charset=latin1', 'application/proto', 'application/json', 'text/plain', ''],
    'application/grpc',
  ];
  const moreTypes = [
    'application/connect+json',
    'application/connect+x',
    'application/grpc-web+json',
    'application/x-www-form-urlencoded',
  ];
  return random.weighted<() => HttpExchange>([
    [78, () => right],
    [
      13,
      () => {
        const { headers, breaksHttp } = oddHeadersOf(random, 'http1');
        return as('odd headers', {
          headers: [...right.headers, ...headers],
          mayBeLost: breaksHttp,
          leaveAfterMs: 2_000,
        });
      },
    ],
    [3, () => as('odd path', { path: oddPath(target, random) })],
    [
      4,
      () => {
        const type = random.pick([...types, ...moreTypes]);
        return as('content type', { headers: [['content-type', type], ...right.headers.slice(1)], leaveAfterMs: 300 });
      },
    ],
    [
      2,
      () =>
        as('HTTP method', { method: random.pick(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND']) }),
    ],
    [
      0.15,
      () => as('over 4 MiB', { body: Buffer.alloc(4 * 1024 * 1024 + 1, '[').toString('base64'), mayBeLost: true }),
    ],
  ])();
}

/** Connect by POST, in JSON or in protobuf; requests of streams have envelopes. */
export function connectRequest(random: Random): FuzzRequest {
  const target = chooseTarget(random);
  const isJson = random.chance(0.6);
  const format = isJson ? 'json' : 'proto';
  const message = isJson
    ? Buffer.from(toJsonText(target.draft, random, target.oddity))
    : toWire(target.draft, random, target.oddity);
  if (target.isStream) {
    const { kind, body, encoding } = random.chance(0.6)
      ? { kind: 'structured', body: envelope(0, message), encoding: undefined }
      : faultyEnvelopes(message, random);
    const headers = encoding === undefined ? [] : [['connect-content-encoding', encoding] as const];
    const given = { kind, content: body, headers };
    return misled(
      requestOf(target, `Connect ${format}`, `application/connect+${format}`, given, random),
      target,
      random,
    );
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
  const { kind, body, encoding } = random.chance(0.55)
    ? { kind: 'structured', body: envelope(0, message), encoding: undefined }
    : faultyEnvelopes(message, random);
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
