import type { Headers } from './exchange.ts';
import type { Random } from './random.ts';

type Header = readonly [name: string, value: string];

const staff: Header = ['authorization', 'Bearer {staff}'];

const oddCredentials = [
  ...['', 'Bearer', 'Bearer ', 'Basic eDp5', 'Bearer a.b.c', 'Bearer eyJhbGciOiJub25lIn0.e30.', 'Bearer {staff}x'],
  ...['{staff}', `Bearer ${'a'.repeat(6_000)}`, 'Bearer {staff}, Bearer {staff}', 'Bearer ....', 'Bearer é'],
];

/** A credential, mostly that of a staff user. */
export function credential(random: Random): Headers {
  return random.weighted<Headers>([
    [88, [staff]],
    [5, [['authorization', 'Bearer {guest}']]],
    [1, []],
    [1, [['authorization', 'bearer {staff}']]],
    [1, [['authorization', 'Bearer {expired}']]],
    [1, [staff, ['Authorization', 'Bearer {guest}']]],
    [3, [['authorization', random.pick(oddCredentials)]]],
  ]);
}

const oddHeaders: readonly [string, readonly string[]][] = [
  ['x-request-id', ['abc-1', '', ' ', 'a'.repeat(200), 'x y', '{"a":1}', '..']],
  ['idempotency-key', ['key-1', 'key-2', 'key-3', '', 'a key', 'x'.repeat(129)]],
  [
    'store-request-id',
    ['{storeRequest}', '', '0', '-1', '1', '99999999999999999999', 'a.b.c', '{storeRequest}x', 'NaN'],
  ],
  ['accept-encoding', ['gzip', 'br', 'identity;q=0', 'gzip;q=1.0, *;q=0', '', 'x'.repeat(500)]],
  ['grpc-accept-encoding', ['gzip', 'identity', 'br,gzip', '']],
  ['grpc-encoding', ['gzip', 'identity', 'br', 'deflate', '', 'gzip,gzip']],
  ['content-encoding', ['gzip', 'identity', 'br', 'deflate', 'x', '']],
  ['connect-content-encoding', ['gzip', 'identity', 'br']],
  ['connect-protocol-version', ['1', '2', '', '1, 1', 'x']],
  ['content-length', ['0', '5', '99999']],
  ['origin', ['null', 'http://evil.example', '', 'http://localhost:3000']],
  ['te', ['trailers', 'gzip']],
  ['x-bin', ['é', '%', '===']],
  ['grpc-trace-bin', ['AAAA', '!!', 'é']],
  ['traceparent', ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', '00-x-y-01', '', 'ff'.repeat(100)]],
  ['user-agent', ['', 'grpc-node/1', "' or 1=1"]],
  ['host', ['evil.example', '', 'a:b:c']],
  ['expect', ['100-continue', 'x']],
  ['x-forwarded-for', ['127.0.0.1, ::1']],
  ['cookie', ['a=b; c=d']],
];

const oddTimeouts = [
  '0',
  '1',
  '-1',
  '1e3',
  '99999999',
  '9999999999',
  '99999999999',
  '18446744073709551616',
  '',
  'x',
  '1.5',
  '١',
];
const oddGrpcTimeouts = [
  ...['0n', '1n', '1u', '5m', '1S', '99999999H', '999999999H', '-1S', '1s', 'S', '', '1', '1.5S', '1S1S', ' 1S', '١S'],
];

/** One or two headers that are wrong, unknown, repeated or garbled; never `content-length`, which breaks HTTP. */
export function oddHeadersOf(random: Random, over: 'http1' | 'http2'): { headers: Headers; breaksHttp: boolean } {
  const headers = random.times(random.int(1, 3), (): Header => {
    if (random.chance(0.15)) return ['connect-timeout-ms', random.pick(oddTimeouts)];
    if (random.chance(0.2)) return ['grpc-timeout', random.pick(oddGrpcTimeouts)];
    const [name, values] = random.pick(oddHeaders);
    return [name, random.pick(values)];
  });
  const usable =
    over === 'http1'
      ? headers
      : headers.filter(([name, value]) => name !== 'host' && !(name === 'te' && value !== 'trailers'));
  const repeated = random.chance(0.1) ? [...usable, ...usable] : usable;
  return {
    headers: repeated,
    breaksHttp: repeated.some(([name]) => ['content-length', 'expect', 'host'].includes(name)),
  };
}
