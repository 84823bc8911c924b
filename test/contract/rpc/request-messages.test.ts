import { once } from 'node:events';
import { deflateSync, gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HeaderList } from '../../support/http2-frames.ts';
import {
  enveloped,
  openOverGrpc,
  procedurePaths,
  type RawCall,
  readOverGrpc,
  sendOverGrpc,
  sendOverWeb,
  type Way,
  ways,
} from '../../support/raw-calls.ts';
import { runService } from '../../support/running-service.ts';
import { scrape } from '../../support/scrape.ts';
import { signToken } from '../../support/tokens.ts';

const { unary, stream } = procedurePaths;
const isEnveloped = ({ name }: Way) => name !== 'Connect' && name !== 'Connect GET';
/** The header that names the compressions that are taken. */
function takenBy({ name, protocol }: Way): [header: string, taken: string] {
  if (protocol === 'grpc') return ['grpc-accept-encoding', 'identity,deflate,gzip'];
  if (protocol === 'grpc-web') return ['grpc-accept-encoding', 'gzip'];
  return [name === 'a stream of Connect' ? 'connect-accept-encoding' : 'accept-encoding', 'gzip'];
}
const brokenGzip = gzipSync(Buffer.alloc(100)).subarray(0, -9);
/** Bytes that are no message of any type. */
const garbage = Uint8Array.of(0xff, 0xff);

describe('The message of a request', () => {
  const service = runService('slot');
  let token: string;
  let staff: HeaderList;
  beforeAll(async () => {
    token = `Bearer ${await signToken({ staffId: 1 })}`;
    staff = [['authorization', token]];
  });
  beforeEach(() => service.log.splice(0));

  /** How many calls the metrics have of the procedure of a way, by their code. */
  const counted = async ({ protocol, path }: Way, code: string) => {
    const [, name, method] = path.split('/');
    const series = `service="${name}",method="${method}",protocol="${protocol}",code="${code}"`;
    return (await scrape(service.metricsPort)).value(`rpc_server_handled_total{${series}}`) ?? 0;
  };
  /** Sends a request that has to be refused with a code, and to be logged and counted once with that code. */
  const expectRefusal = async (way: Way, call: RawCall, code: string) => {
    const before = await counted(way, code);
    const answer = await way.send(service, call);
    expect(answer.error?.code, answer.error?.message).toBe(code);
    expect(service.log.splice(0)).toMatchObject([{ msg: 'call', method: way.path.slice(1), code }]);
    expect(await counted(way, code)).toBe(before + 1);
    return answer;
  };

  it.each(ways)('A request over $name with one message is answered', async (way) => {
    if (way.path === stream) return;
    for (const isGzip of [false, true]) {
      const message = isGzip ? gzipSync(Buffer.alloc(0)) : Buffer.alloc(0);
      expect((await way.send(service, way.call(message, staff, isGzip))).error).toBeUndefined();
    }
  });

  describe.each(ways.filter(isEnveloped))('Over $name', (way) => {
    it.each([
      ['two messages', Buffer.concat([enveloped(''), enveloped('')])],
      ['a message and one byte', Buffer.concat([enveloped(''), Buffer.alloc(1)])],
      ['no message', Buffer.alloc(0)],
    ])('A request with %s is UNIMPLEMENTED', async (_kind, body) => {
      await expectRefusal(way, { ...way.call(Buffer.alloc(0), staff), body }, 'UNIMPLEMENTED');
    });
  });

  it.each([unary, stream])(
    'gRPC answers two messages to %s with a status, and closes the stream without an error',
    async (path) => {
      const call = { path, headers: [['content-type', 'application/grpc'], ...staff], body: Buffer.alloc(0) } as const;
      const answer = await sendOverGrpc(service, { ...call, body: Buffer.concat([enveloped(''), enveloped('')]) });
      expect(answer).toMatchObject({ status: 200, headers: { 'grpc-status': String(status.UNIMPLEMENTED) }, reset: 0 });
      const request = openOverGrpc(service.grpcPort, call);
      const answered = readOverGrpc(request);
      // The second message begins in a chunk of its own, and never ends.
      for (const part of [Buffer.alloc(3), Buffer.alloc(2), Buffer.alloc(1)]) {
        request.write(part);
        await new Promise((resolve) => request.session?.ping(resolve));
      }
      expect(await answered).toMatchObject({ headers: { 'grpc-status': String(status.UNIMPLEMENTED) }, reset: 0 });
    },
  );

  it('gRPC does not execute the first of two messages, even where the second comes later', async () => {
    await service.database.sql('insert into slots (id, delivery_time, freeze_time) values (1, now(), now())');
    const path = '/slot.v1.SlotService/DeleteSlot';
    const headers: HeaderList = [['content-type', 'application/grpc'], ...staff];
    const request = openOverGrpc(service.grpcPort, { path, headers, body: Buffer.alloc(0) });
    const answered = readOverGrpc(request);
    const message = enveloped(Uint8Array.of(8, 1));
    request.write(message);
    await new Promise((resolve) => request.session?.ping(resolve));
    request.end(message);
    expect((await answered).error?.code).toBe('UNIMPLEMENTED');
    const inProgress = 'rpc_server_in_progress{service="slot.v1.SlotService",method="DeleteSlot",protocol="grpc"}';
    await expect.poll(async () => (await scrape(service.metricsPort)).value(inProgress)).toBe(0);
    expect(service.log.map(({ msg, code }) => `${msg} ${code}`)).toEqual(['call UNIMPLEMENTED']);
    expect(await service.database.sql('select is_active from slots')).toEqual([{ is_active: true }]);
  });

  it('Over gRPC, what follows a message is not taken: a client that would send 8 MiB can send no more than a window', async () => {
    const headers: HeaderList = [['content-type', 'application/grpc'], ...staff];
    const request = openOverGrpc(service.grpcPort, { path: unary, headers, body: Buffer.alloc(0) });
    const answered = readOverGrpc(request);
    // Node's client would keep the stream open until it has sent all.
    const ended = Promise.all([once(request, 'end'), once(request, 'aborted')]).then(() => request.destroy());
    request.write(enveloped(''));
    let sent = 0;
    const chunk = enveloped(Buffer.alloc(64 * 1024));
    for (let n = 0; n < 128; n += 1) {
      request.write(chunk, (error) => {
        if (error == null) sent += 1;
      });
    }
    expect(await answered).toMatchObject({ error: { code: 'UNIMPLEMENTED' }, reset: 0 });
    await ended;
    expect(sent).toBeLessThan(32);
  });

  it.each(ways.filter((way) => isEnveloped(way) && way.protocol !== 'grpc'))(
    'Over $name, two messages are UNIMPLEMENTED while the second is still on its way',
    async (way) => {
      const whole = way.call(Buffer.alloc(0), staff);
      // The web port would wait for the rest.
      const call = { ...whole, body: Buffer.concat([enveloped(''), enveloped('').fill(1, 4)]), missingBytes: 2 ** 30 };
      expect((await sendOverWeb(service, call)).error?.code).toBe('UNIMPLEMENTED');
    },
  );

  describe.each(ways)('Over $name', (way) => {
    it.each([
      ['bytes that are no message', garbage, false],
      ['gzip that breaks off', brokenGzip, true],
      ['bytes that are no gzip', Buffer.from('no gzip'), true],
      ['gzip of bytes that are no message', gzipSync(garbage), true],
    ])(
      '%s are INVALID_ARGUMENT, logged and counted, and no error of the server to a stranger',
      async (_kind, message, isGzip) => {
        await expectRefusal(way, way.call(message, staff, isGzip), 'INVALID_ARGUMENT');
        const answer = await way.send(service, way.call(message, [], isGzip));
        expect(answer.error?.code).toMatch(/^(UNAUTHENTICATED|INVALID_ARGUMENT)$/);
        expect(answer.status).toBeLessThan(500);
      },
    );

    const snappy = ({ path, headers, ...call }: RawCall) => ({
      ...call,
      path: path.replace('=gzip', '=snappy'),
      headers: headers.map(([name, value]) => [name, value === 'gzip' ? 'snappy' : value] as const),
    });

    it('The refusal of an unknown compression names those that the service takes', async () => {
      const { status, headers } = await way.send(service, snappy(way.call(gzipSync(''), staff, true)));
      expect(status).toBe(isEnveloped(way) ? 200 : 501);
      const named = Object.entries(headers).filter(([name]) => name.endsWith('accept-encoding'));
      expect(named).toEqual([takenBy(way)]);
    });

    it('A compression that the service does not know is UNIMPLEMENTED, and to a stranger no error of the server', async () => {
      await expectRefusal(way, snappy(way.call(gzipSync(''), staff, true)), 'UNIMPLEMENTED');
      expect((await way.send(service, snappy(way.call(gzipSync(''), [], true)))).status).toBeLessThan(500);
    });
  });

  it.each(ways.filter(isEnveloped).filter(({ protocol }) => protocol !== 'grpc'))(
    'Over $name, a message that breaks off, or that is gzip without a word of it, is INVALID_ARGUMENT',
    async (way) => {
      for (const body of [enveloped('x').subarray(0, 3), enveloped('xyz').subarray(0, 7), enveloped(gzipSync(''), 1)]) {
        await expectRefusal(way, { ...way.call(Buffer.alloc(0), staff), body }, 'INVALID_ARGUMENT');
      }
    },
  );

  it('A GET whose message is no base64 is INVALID_ARGUMENT, logged and counted', async () => {
    const [way] = ways.filter(({ name }) => name === 'Connect GET');
    if (way === undefined) throw new Error('no such way');
    const path = `${unary}?connect=v1&encoding=proto&base64=1&message=%21%21`;
    await expectRefusal(way, { ...way.call(Buffer.alloc(0), staff), path }, 'INVALID_ARGUMENT');
    const stranger = await way.send(service, { ...way.call(Buffer.alloc(0), []), path });
    expect([stranger.status, stranger.error?.code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  it('Over gRPC, deflate that breaks off is INVALID_ARGUMENT', async () => {
    const [way] = ways;
    if (way === undefined) throw new Error('no way');
    const call = way.call(deflateSync(Buffer.alloc(100)).subarray(0, -5), staff, true);
    const headers = call.headers.map(([name, value]) => [name, value === 'gzip' ? 'deflate' : value] as const);
    await expectRefusal(way, { ...call, headers }, 'INVALID_ARGUMENT');
  });

  it.each([
    ['the health of the service', '/grpc.health.v1.Health/Check'],
    ['a stream of its health', '/grpc.health.v1.Health/Watch'],
    ['reflection', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'],
  ])('A request for %s that cannot be decoded is INVALID_ARGUMENT', async (_kind, path) => {
    const headers: HeaderList = [['content-type', 'application/grpc']];
    const answer = await sendOverGrpc(service, { path, headers, body: enveloped(garbage) });
    expect(answer.error?.code).toBe('INVALID_ARGUMENT');
  });

  it.each(['soon', '', '5', '1 S', '123456789S', '-1S', '1X'])(
    'A grpc-timeout of "%s" is INVALID_ARGUMENT, logged and counted',
    async (timeout) => {
      for (const way of ways.filter(({ protocol }) => protocol !== 'connect')) {
        await expectRefusal(way, way.call(Buffer.alloc(0), [...staff, ['grpc-timeout', timeout]]), 'INVALID_ARGUMENT');
      }
    },
  );

  it.each(['soon', '12345678901', '-1', '1.5'])(
    'A connect-timeout-ms of "%s" is INVALID_ARGUMENT, logged and counted',
    async (timeout) => {
      for (const way of ways.filter(({ protocol }) => protocol === 'connect')) {
        const call = way.call(Buffer.alloc(0), [...staff, ['connect-timeout-ms', timeout]]);
        await expectRefusal(way, call, 'INVALID_ARGUMENT');
      }
    },
  );
});
