import { maxMessageBytes } from '../../shared/rpc/limits/limits.ts';
import type { Headers, HttpExchange } from './exchange.ts';
import { credential, oddHeadersOf } from './headers.ts';
import { envelope } from './mutations.ts';
import { oddPath, type Target } from './procedures.ts';
import type { Random } from './random.ts';

/** The highest compression ratio of deflate. */
const maxInflation = 1032;

export interface Body {
  readonly kind: string;
  readonly content: Buffer;
  readonly headers?: HttpExchange['headers'];
}

/** A call by POST: native gRPC over HTTP/2, and the others over HTTP/1.1. */
export function requestOf(target: Target, protocol: string, type: string, body: Body, random: Random): HttpExchange {
  const shown = credential(random);
  return {
    over: protocol === 'gRPC' ? 'http2' : 'http1',
    service: target.service,
    label: { protocol, procedure: target.name, kind: body.kind },
    mayBeLost: mayBeReset(shown, body),
    method: 'POST',
    path: target.path,
    headers: [['content-type', type], ...shown, ...(body.headers ?? [])],
    body: body.content.toString('base64'),
    ...(target.isStream || random.chance(0.02) ? { leaveAfterMs: random.int(0, target.isStream ? 60 : 8) } : {}),
  };
}

/**
 * Whether its memory may be taken by another: clients without a valid token share 8 MiB, which do not hold two that may
 * decompress to 4 MiB (docs/limits.md).
 */
function mayBeReset(shown: Headers, { content, headers: encoding }: Body): boolean {
  const [token, other] = shown;
  const isValid = other === undefined && /^bearer \{(staff|guest)\}$/i.test(token?.[1] ?? '');
  return !isValid && encoding !== undefined && content.byteLength * maxInflation > maxMessageBytes;
}

const grpcTypes = [
  ...['application/grpc', 'application/grpc+json', 'application/grpc;x', 'application/grpc-web', 'text/plain', ''],
  'application/json',
];
const webTypes = [
  ...['application/json; charset=latin1', 'application/proto', 'application/json', 'text/plain', ''],
  ...['application/grpc', 'application/connect+json', 'application/connect+x', 'application/grpc-web+json'],
  'application/x-www-form-urlencoded',
];
const methods = ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];
const large = maxMessageBytes + 1;

/** The same request, sometimes with a fault outside its message. */
export function misled(right: HttpExchange, target: Target, random: Random): HttpExchange {
  const as = (kind: string, other: Partial<HttpExchange>) => ({ ...right, ...other, label: { ...right.label, kind } });
  const isGrpc = right.over === 'http2';
  const oddHeaders = () => {
    const { headers, breaksHttp: mayBeLost } = oddHeadersOf(random, right.over);
    const given = { headers: [...right.headers, ...headers], mayBeLost };
    return as('odd headers', isGrpc ? given : { ...given, leaveAfterMs: 2_000 });
  };
  const oddType = () => {
    const type = random.pick(isGrpc ? grpcTypes : webTypes);
    return as('content type', { headers: [['content-type', type], ...right.headers.slice(1)], leaveAfterMs: 300 });
  };
  const oddMethod = () => {
    const method = random.pick([...methods, ...(isGrpc ? ['X'] : ['HEAD', 'PROPFIND'])]);
    return as('HTTP method', isGrpc ? { method, leaveAfterMs: 300 } : { method });
  };
  const tooLarge = () => {
    const body = isGrpc ? envelope(0, Buffer.alloc(large)) : Buffer.alloc(large, '[');
    return as('over 4 MiB', { body: body.toString('base64'), mayBeLost: true });
  };
  const odd = () => as('odd path', { path: oddPath(target, random), ...(isGrpc ? { leaveAfterMs: 100 } : {}) });
  const ways = [
    [78, () => right],
    [13, oddHeaders],
    [3, odd],
    [4, oddType],
    [2, oddMethod],
    [0.15, tooLarge],
  ] as const;
  return random.weighted<() => HttpExchange>(ways)();
}
