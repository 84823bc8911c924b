import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HeaderList } from '../../support/http2-frames.ts';
import { enveloped, procedurePaths, type RawCall, sendOverGrpc, sendOverWeb } from '../../support/raw-calls.ts';
import { runService } from '../../support/running-service.ts';
import { scrape } from '../../support/scrape.ts';
import { signToken } from '../../support/tokens.ts';

const { unary, stream } = procedurePaths;
const deletion = '/slot.v1.SlotService/DeleteSlot';

describe('A request by another HTTP method or of another content type', () => {
  const service = runService('slot');
  let authorization: readonly [string, string];
  beforeAll(async () => {
    authorization = ['authorization', `Bearer ${await signToken({ staffId: 1 })}`];
    await service.sql('insert into slots (id, delivery_time, freeze_time) values (1, now(), now())');
  });
  beforeEach(() => service.log.splice(0));

  const of = (type: string): HeaderList => [['content-type', type], authorization];
  /** The calls over gRPC that the metrics have of a procedure, except those that succeeded. */
  const refused = async (path: string) => {
    const { text } = await scrape(service.metricsPort);
    const [, name, method] = path.split('/');
    const series = `rpc_server_handled_total{service="${name}",method="${method}",protocol="grpc",`;
    return [...text.matchAll(/^(.*code="(?!OK)(\w+)"}) (\d+)$/gm)]
      .filter(([, whole = '']) => whole.startsWith(series))
      .map(([, , code, count]) => `${code} ${count}`);
  };

  it.each(['DELETE', 'PUT', 'PATCH', 'GET', 'HEAD', 'OPTIONS'])(
    'gRPC by %s executes nothing: it is refused, logged and counted',
    async (method) => {
      const [before = 'UNIMPLEMENTED 0'] = await refused(deletion);
      const call = { method, path: deletion, headers: of('application/grpc'), body: enveloped(Uint8Array.of(8, 1)) };
      const answer = await sendOverGrpc(service, call);
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' }, reset: 0 });
      expect(await service.database.sql('select is_active from slots')).toEqual([{ is_active: true }]);
      expect(service.log).toMatchObject([
        { msg: 'call', method: deletion.slice(1), code: 'UNIMPLEMENTED', protocol: 'grpc' },
      ]);
      const [, count] = before.split(' ');
      expect(await refused(deletion)).toEqual([`UNIMPLEMENTED ${Number(count) + 1}`]);
    },
  );

  it('Health is asked by POST alone', async () => {
    const call = { method: 'GET', path: '/grpc.health.v1.Health/Check', headers: of('application/grpc') };
    expect(await sendOverGrpc(service, { ...call, body: enveloped('') })).toMatchObject({ status: 405 });
  });

  it.each([
    ...['application/grpc+foo', 'application/grpc+json', 'application/grpcfoo', 'application/grpc-web'],
    ...['application/grpc+', 'application/grpc+protobuf', 'application/json', ''],
  ])('The gRPC port takes no content type "%s", and executes nothing', async (type) => {
    for (const path of [unary, stream]) {
      const answer = await sendOverGrpc(service, { path, headers: of(type), body: enveloped('') });
      expect(answer).toMatchObject({ status: 415, reset: 0 });
      expect(answer.headers['grpc-status']).toBeUndefined();
    }
    expect(service.log.map(({ method, code }) => `${method} ${code}`)).toEqual([
      `${unary.slice(1)} INVALID_ARGUMENT`,
      `${stream.slice(1)} INVALID_ARGUMENT`,
    ]);
  });

  it('The gRPC port takes no request without a content type', async () => {
    const answer = await sendOverGrpc(service, { path: unary, headers: [authorization], body: enveloped('') });
    expect(answer).toMatchObject({ status: 415, reset: 0 });
  });

  it.each([
    ...['application/grpc', 'application/grpc+proto', 'application/grpc;charset=utf-8'],
    ...['application/grpc+proto; charset=utf-8', 'application/grpc ; x'],
  ])('The gRPC port takes the content type "%s"', async (type) => {
    const answer = await sendOverGrpc(service, { path: unary, headers: of(type), body: enveloped('') });
    expect(answer).toMatchObject({ status: 200, headers: { 'grpc-status': '0' } });
  });

  it.each<[method: string, path: string, type: string, status: number, reason: string, logged: string]>([
    ['PUT', unary, 'application/json', 405, 'UNIMPLEMENTED', 'UNIMPLEMENTED'],
    ['DELETE', unary, 'application/grpc-web', 405, 'UNIMPLEMENTED', 'UNIMPLEMENTED'],
    ['GET', deletion, 'application/json', 405, 'UNIMPLEMENTED', 'UNIMPLEMENTED'],
    ['GET', stream, 'application/connect+json', 405, 'UNIMPLEMENTED', 'UNIMPLEMENTED'],
    ['POST', unary, 'text/plain', 415, 'INVALID_REQUEST', 'INVALID_ARGUMENT'],
    ['POST', unary, 'application/grpc', 415, 'INVALID_REQUEST', 'INVALID_ARGUMENT'],
    ['POST', unary, 'application/grpc-web+foo', 415, 'INVALID_REQUEST', 'INVALID_ARGUMENT'],
    ['POST', stream, 'application/json', 415, 'INVALID_REQUEST', 'INVALID_ARGUMENT'],
    ['GET', `${unary}?encoding=foo&message=`, 'application/json', 415, 'INVALID_REQUEST', 'INVALID_ARGUMENT'],
  ])(
    'The web port refuses %s %s of %s with %i and the code `unknown`',
    async (method, path, type, status, reason, code) => {
      const answer = await sendOverWeb(service, { method, path, headers: of(type), body: Buffer.alloc(0) });
      expect(answer).toMatchObject({ status, error: { code: 'UNKNOWN', info: { reason } } });
      const [withoutQuery = ''] = path.split('?');
      expect(service.log).toMatchObject([
        { msg: 'a request was no call', method: `${method} ${withoutQuery}`, code, status },
      ]);
    },
  );

  const bodies = { json: '{}', proto: '' };
  /** A call of the content type, whose parameters are `of`. */
  const typed = ([path, type, codec]: Taken, parameters: string): RawCall => {
    const isEnveloped = /connect|grpc/.test(type);
    const body = isEnveloped ? enveloped(bodies[codec]) : Buffer.from(bodies[codec]);
    const timeout: HeaderList = path === stream ? [['connect-timeout-ms', '1']] : [];
    return { path, headers: [...of(`${type}${parameters}`), ...timeout], body };
  };
  type Taken = [path: string, type: string, codec: keyof typeof bodies];
  const taken: Taken[] = [
    [unary, 'application/json', 'json'],
    [unary, 'application/proto', 'proto'],
    [stream, 'application/connect+json', 'json'],
    [stream, 'application/connect+proto', 'proto'],
    [unary, 'application/grpc-web', 'proto'],
    [unary, 'application/grpc-web+proto', 'proto'],
    [unary, 'application/grpc-web+json', 'json'],
    [unary, 'Application/JSON', 'json'],
    [unary, 'APPLICATION/PROTO', 'proto'],
  ];

  describe.each(taken)('Over %s, as %s', (...type) => {
    it.each([
      ...[
        '',
        ';',
        '; charset=utf-8',
        ';charset=utf8',
        ' ; charset=UTF-8 ;',
        '\t;\tCharset="utf-8"',
        '; charset="UTF-8"',
      ],
      ...['; profile=json', '; a="b;c=\\"; charset=x"; charset=utf-8', ';v=1;v=2', '; charset=utf-8; charset=utf-8'],
      ...['; xcharset=latin1', '; profile="application/json"'],
    ])('The web port ignores parameters beyond the charset: "%s"', async (parameters) => {
      const { status, error } = await sendOverWeb(service, typed(type, parameters));
      expect([status, error?.code ?? 'DEADLINE_EXCEEDED']).toEqual([200, 'DEADLINE_EXCEEDED']);
    });

    it.each([
      ...['; charset=latin1', '; charset="utf-16"', ';charset=', '; charset="utf-8', '; charset=utf-8; charset=latin1'],
      ...['; charset', '; a=b c', ', application/json'],
    ])('The web port takes no other charset, and no parameter that is malformed: "%s"', async (parameters) => {
      const { status, error } = await sendOverWeb(service, typed(type, parameters));
      expect({ status, error }).toMatchObject({ status: 415, error: { info: { reason: 'INVALID_REQUEST' } } });
    });
  });

  it('A path that is no procedure is UNIMPLEMENTED on either port', async () => {
    const path = '/slot.v1.SlotService/getSlots';
    const unimplemented = { error: { code: 'UNIMPLEMENTED' } };
    const overWeb = await sendOverWeb(service, { path, headers: of('application/json'), body: Buffer.from('{}') });
    expect(overWeb).toMatchObject({ status: 404, ...unimplemented });
    const overGrpc = await sendOverGrpc(service, { path, headers: of('application/grpc'), body: enveloped('') });
    expect(overGrpc).toMatchObject({ status: 200, ...unimplemented });
  });
});
