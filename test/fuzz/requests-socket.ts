import { frame, preface } from '../support/http2-frames.ts';
import type { FuzzRequest } from './exchange.ts';
import { mutate } from './mutations.ts';
import { chooseTarget } from './procedures.ts';
import type { Random } from './random.ts';

const settings = frame(4, 0, 0, Buffer.alloc(0));

/** Bytes for either port that need not be HTTP. */
export function socketRequest(random: Random): FuzzRequest {
  const target = chooseTarget(random);
  const [kind, port, bytes] = random.pick<() => [string, 'grpc' | 'web', Buffer]>([
    () => ['HTTP/1.1', 'web', oddHttp1(target.path, random)],
    () => ['HTTP/1.1', 'web', oddHttp1(target.path, random)],
    () => ['mutated HTTP/1.1', 'web', mutate(oddHttp1(target.path, random), random)],
    () => ['HTTP/1.1', 'grpc', oddHttp1(target.path, random)],
    () => ['HTTP/2', 'web', Buffer.concat([preface, settings])],
    () => [
      'frames',
      'grpc',
      Buffer.concat([preface, settings, ...random.times(random.int(1, 6), () => oddFrame(random))]),
    ],
    () => ['frames', 'grpc', mutate(Buffer.concat([preface, settings, oddFrame(random), oddFrame(random)]), random)],
    () => ['random bytes', random.pick(['grpc', 'web']), random.bytes(random.int(0, 200))],
  ])();
  return {
    over: 'socket',
    service: target.service,
    label: { protocol: `socket (${port})`, procedure: target.name, kind },
    mayBeLost: true,
    port,
    bytes: bytes.toString('base64'),
  };
}

function oddHttp1(path: string, random: Random): Buffer {
  const line = random.pick([
    ...[`POST ${path} HTTP/1.1`, `POST ${path} HTTP/1.0`, `POST ${path} HTTP/9.9`, `POST http://[ HTTP/1.1`],
    ...['GET /readyz HTTP/1.1', 'POST  HTTP/1.1', `POST ${path}`, `${'A'.repeat(300)} / HTTP/1.1`],
    ...['OPTIONS * HTTP/1.1', 'CONNECT x:1 HTTP/1.1', `GET ${path}?message=%zz HTTP/1.1`],
    ...[`GET ${path}?connect=v1&encoding=json&message=%ff HTTP/1.1`, `GET //${path} HTTP/1.1`, 'GET ?x HTTP/1.1'],
    ...['GET http://a/b HTTP/1.1', 'TRACE / HTTP/1.1'],
  ]);
  const headers = random.times(random.int(0, 4), () =>
    random.pick([
      ...['host: a', 'host: a\r\nhost: b', 'content-type: application/json'],
      ...['content-type: application/grpc-web+proto', 'content-length: 5'],
      ...['content-length: 5\r\ncontent-length: 6', 'content-length: -1', 'content-length: 99999999999999'],
      ...['transfer-encoding: chunked', 'transfer-encoding: gzip, chunked', 'upgrade: h2c\r\nconnection: upgrade'],
      ...['connection: close', 'no colon', ': empty', 'a\0b: c', `x: ${'y'.repeat(20_000)}`, ' folded: yes'],
      ...['authorization: Bearer \xff\xfe', 'expect: 100-continue', 'content-type: application/proto'],
      ...['content-encoding: gzip', 'connect-timeout-ms: 1', 'origin: http://\xff'],
      'content-type: application/connect+json',
    ]),
  );
  const body = random.pick([
    ...['', '{}', 'hello', '0\r\n\r\n', '2\r\n{}\r\n0\r\n\r\n', 'zz\r\n{}\r\n', 'ffffffffffffffff\r\n{}'],
    ...['2\r\n{}\r\n0\r\nx: y\r\n\r\n', '\0\0\0\0\0'],
  ]);
  const end = random.pick(['\r\n', '\r\n', '\r\n', '\n']);
  const text = [line, ...headers, '', body].join(end);
  // Several requests on one connection, sent at once.
  return Buffer.from(random.chance(0.1) ? text.repeat(3) : text, 'latin1');
}

function oddFrame(random: Random): Buffer {
  const stream = random.pick([0, 1, 1, 1, 3, 2, 0x7fffffff]);
  const content = random.pick([
    () => random.bytes(random.int(0, 40)),
    // :method POST, :scheme http, :path /, by the static table.
    () => Buffer.concat([Buffer.from([0x83, 0x86, 0x84]), random.bytes(random.int(0, 6))]),
    () => Buffer.alloc(random.pick([4, 5, 8])),
  ])();
  return frame(
    random.int(0, 12),
    random.int(0, 255),
    stream,
    content,
    random.chance(0.1) ? random.int(0, 0xffffff) : undefined,
  );
}
