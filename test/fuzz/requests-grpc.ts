import { toWire } from './draft-encoding.ts';
import type { FuzzRequest, HttpExchange } from './exchange.ts';
import { credential, oddHeadersOf } from './headers.ts';
import { envelope, faultyEnvelopes } from './mutations.ts';
import { chooseTarget, oddPath } from './procedures.ts';
import type { Random } from './random.ts';

const oddTypes = [
  ...['application/grpc', 'application/grpc+json', 'application/grpc;x', 'application/grpc-web', 'text/plain', ''],
  'application/json',
];

/** Native gRPC: a well-formed request, or one with a fault in its message, envelope, headers or path. */
export function grpcRequest(random: Random): FuzzRequest {
  const target = chooseTarget(random);
  const message = toWire(target.draft, random, target.oddity);
  const right: HttpExchange = {
    over: 'http2',
    service: target.service,
    label: { protocol: 'gRPC', procedure: target.name, kind: 'structured' },
    mayBeLost: false,
    method: 'POST',
    path: target.path,
    headers: [['content-type', 'application/grpc+proto'], ['te', 'trailers'], ...credential(random)],
    body: envelope(0, message).toString('base64'),
    ...(target.isStream || random.chance(0.02) ? { leaveAfterMs: random.int(0, target.isStream ? 60 : 8) } : {}),
  };
  const as = (kind: string, other: Partial<HttpExchange>): HttpExchange => ({
    ...right,
    ...other,
    label: { ...right.label, kind },
  });
  return random.weighted<() => HttpExchange>([
    [50, () => right],
    [
      27,
      () => {
        const { kind, body, encoding } = faultyEnvelopes(message, random);
        const headers =
          encoding === undefined ? right.headers : [...right.headers, ['grpc-encoding', encoding] as const];
        return as(kind, { headers, body: body.toString('base64') });
      },
    ],
    [
      12,
      () => {
        const { headers, breaksHttp } = oddHeadersOf(random, 'http2');
        return as('odd headers', { headers: [...right.headers, ...headers], mayBeLost: breaksHttp });
      },
    ],
    [3, () => as('odd path', { path: oddPath(target, random), leaveAfterMs: 100 })],
    [3, () => as('content type', { headers: [['content-type', random.pick(oddTypes)], ...right.headers.slice(1)] })],
    [
      2,
      () =>
        as('HTTP method', {
          method: random.pick(['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'X']),
          leaveAfterMs: 300,
        }),
    ],
    [
      0.15,
      () =>
        as('over 4 MiB', { body: envelope(0, Buffer.alloc(4 * 1024 * 1024 + 1)).toString('base64'), mayBeLost: true }),
    ],
  ])();
}
