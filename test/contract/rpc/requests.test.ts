import { once } from 'node:events';
import { connect } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { failureOf, slotContract } from '../../support/contract.ts';
import { runService } from '../../support/running-service.ts';
import { signToken } from '../../support/tokens.ts';

const path = '/slot.v1.SlotService';

describe('Raw requests on the web port', () => {
  const service = runService('slot');
  let token: string;
  beforeAll(async () => {
    token = await signToken({ staffId: 1 });
  });

  const post = async (method: string, body: string | Uint8Array, headers: Record<string, string> = {}) => {
    const response = await fetch(`http://127.0.0.1:${service.webPort}${path}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
      body,
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : {} };
  };

  it('A JSON response has the names of the spec, and contains false, 0 and empty lists', async () => {
    const { json } = await post(
      'CreateSlot',
      '{"deliveryTime":"2030-01-01","freezeTime":"2029-12-31","isActive":false}',
    );
    expect(json.slot).toEqual({
      ...{ id: expect.any(Number), deliveryTime: '2030-01-01T00:00:00Z', freezeTime: '2029-12-31T00:00:00Z' },
      ...{ isActive: false, isCapacityFull: false, groupIds: [], deliverySequence: {} },
      etag: expect.stringMatching(/./),
    });
    expect(json.createdSnippets).toEqual([]);
  });

  it.each([
    ['JSON that does not parse', '{"deliveryTime":', 'invalid_argument'],
    ['an id beyond int32', '{"id":2147483648}', 'invalid_argument'],
    ['a field of another type', '{"id":"five"}', 'invalid_argument'],
  ])('The web port refuses %s with a reason', async (_kind, body, code) => {
    const { status, json } = await post('GetSlotById', body);
    expect(status).toBe(400);
    expect(json.code).toBe(code);
    expect(json.message).not.toContain('[');
    expect(json.details[0].type).toBe('google.rpc.ErrorInfo');
  });

  it('The web port checks the credential before it decodes the message', async () => {
    const { status, json } = await post('GetSlotById', '{', { authorization: 'Bearer nonsense' });
    expect(status).toBe(401);
    expect(json.message).toBe('Authentication required');
  });

  it('The web port refuses a message over 4 MiB, before or after decompression', async () => {
    const large = JSON.stringify({ id: 'x'.repeat(5 * 1024 * 1024) });
    for (const { status, json } of [
      await post('GetDeliverySequence', large),
      await post('GetDeliverySequence', gzipSync(large), { 'content-encoding': 'gzip' }),
    ]) {
      expect(status).toBe(429);
      expect(json.code).toBe('resource_exhausted');
    }
  });

  it('The web port takes and sends no compression but gzip', async () => {
    expect((await post('GetSlots', '{}', { 'content-encoding': 'br' })).json.code).toBe('unimplemented');
    const { headers } = await post('GetSlots', '{}', { 'accept-encoding': 'br' });
    expect(headers.get('content-encoding')).toBeNull();
  });

  it.each([
    ['a query', 'GetSlots', '{}', {}],
    ['a message with fields', 'GetSlotsProductIds', '{"slotIds":[1,2]}', {}],
    ['no such slot', 'GetSlotById', '{"id":4711}', {}],
    ['a broken rule', 'UpdateSlotCapacity', '{"slotId":1}', {}],
    ['no credential', 'GetSlots', '{}', { authorization: '' }],
    ['a deadline that has passed', 'GetSlots', '{}', { 'connect-timeout-ms': '0' }],
    [
      'a binary message',
      'GetSlotsProductIds',
      new Uint8Array([0x0a, 0x01, 0x01]),
      { 'content-type': 'application/proto' },
    ],
  ])('The fast path of the web port and connect-node answer alike for %s', async (_kind, method, body, headers) => {
    const sent = { ...headers, 'x-request-id': 'same' };
    const own = await post(method, body, sent);
    const unpacked = await post(method, gzipSync(body), {
      ...sent,
      'content-encoding': 'gzip',
      'accept-encoding': 'identity',
    });
    const answer = ({ status, headers: received, text, json }: typeof own) => {
      const shown = Object.fromEntries(
        [...received].filter(([name]) => !['date', 'content-length', 'transfer-encoding'].includes(name)),
      );
      return { status, content: shown['content-type'] === 'application/json' ? json : text, shown };
    };
    expect(answer(own)).toEqual(answer(unpacked));
  });

  it('A response to GET must not be cached', async () => {
    const url = `http://127.0.0.1:${service.webPort}${path}/GetSlots?connect=v1&encoding=json&message=%7B%7D`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    await response.text();
  });

  it.each([
    ['a misspelt procedure', `${path}/getSlots`, 'application/json', 404, 'unimplemented', 'UNIMPLEMENTED'],
    ['a very long path', `/${'a'.repeat(5_000)}`, 'application/json', 404, 'unimplemented', 'UNIMPLEMENTED'],
  ])(
    'A request with %s gets the body of an error, and a line in the log',
    async (_kind, url, type, status, code, line) => {
      const lines = service.log.length;
      const response = await fetch(`http://127.0.0.1:${service.webPort}${url}?secret`, {
        method: 'POST',
        headers: { 'content-type': type, authorization: `Bearer ${token}` },
        body: '{}',
      });
      expect([response.status, response.headers.get('content-type')]).toEqual([status, 'application/json']);
      expect(await response.json()).toMatchObject({
        code,
        message: expect.stringMatching(/^.{20,300}$/),
        details: [{ type: 'google.rpc.ErrorInfo' }],
      });
      // A refresh of the stores may end meanwhile, and has a line of its own.
      const logged = service.log.slice(lines).filter(({ method }) => method !== undefined);
      expect(logged).toMatchObject([{ method: `POST ${url}`.slice(0, 200), code: line, status }]);
    },
  );

  it.each([
    ['none was sent', {}, 'Bearer'],
    ['one was sent', { authorization: 'Bearer nonsense' }, 'Bearer error="invalid_token"'],
  ])(
    'A 401 of the web port challenges the caller, whatever way the call takes, where %s',
    async (_kind, given, challenge) => {
      const url = `http://127.0.0.1:${service.webPort}${path}/GetSlots`;
      const json = { ...given, 'content-type': 'application/json' };
      const answers = await Promise.all([
        fetch(url, { method: 'POST', headers: json, body: '{}' }),
        fetch(url, { method: 'POST', headers: { ...json, 'content-encoding': 'gzip' }, body: gzipSync('{}') }),
        fetch(`${url}?connect=v1&encoding=json&message=%7B%7D`, { headers: given }),
      ]);
      for (const { status, headers } of answers) {
        expect([status, headers.get('www-authenticate')]).toEqual([401, challenge]);
      }
    },
  );

  it('An answer that is no 401 has no challenge', async () => {
    expect((await post('GetSlots', '{}')).headers.has('www-authenticate')).toBe(false);
    expect((await post('GetSlotById', '{"id":4711}')).headers.has('www-authenticate')).toBe(false);
  });

  it.each(['HEAD', 'PUT', 'DELETE'])(
    'A request by %s is no call: it is refused without a look at its credential',
    async (method) => {
      const response = await fetch(`http://127.0.0.1:${service.webPort}${path}/GetSlots`, { method });
      expect(response.status).toBe(405);
      const text = await response.text();
      expect(text).toContain(method === 'HEAD' ? '' : `${method} ${path}/GetSlots is not implemented`);
    },
  );

  it('The web port answers 404 on every other path', async () => {
    expect((await fetch(`http://127.0.0.1:${service.webPort}/`)).status).toBe(404);
  });

  it('The web port serves /healthz and /readyz', async () => {
    expect((await fetch(`http://127.0.0.1:${service.webPort}/healthz`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${service.webPort}/readyz`)).status).toBe(200);
  });

  it('The web port allows the configured origins, and no others', async () => {
    const preflight = (origin: string) =>
      fetch(`http://127.0.0.1:${service.webPort}${path}/CreateSlot`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type,connect-protocol-version',
        },
      });
    const allowed = await preflight('http://allowed.example');
    expect(allowed.headers.get('access-control-allow-origin')).toBe('http://allowed.example');
    const headers = allowed.headers.get('access-control-allow-headers')?.toLowerCase().split(',');
    expect(headers).toEqual(expect.arrayContaining(['authorization', 'traceparent', 'tracestate']));
    expect((await preflight('http://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each([
    ['GET', '?connect=v1&encoding=json&message=%7B%7D', 200],
    ['POST', '', 200],
    ['POST', '', 401],
  ])('A page on another origin reads the time of a %s%s that is answered with %i', async (method, query, status) => {
    const response = await fetch(`http://127.0.0.1:${service.webPort}${path}/GetSlots${query}`, {
      ...(method === 'POST' && { method, body: '{}' }),
      headers: {
        ...{ origin: 'http://allowed.example', 'content-type': 'application/json' },
        ...(status === 200 && { authorization: `Bearer ${token}` }),
      },
    });
    expect(response.status).toBe(status);
    expect(response.headers.get('access-control-expose-headers')?.split(',')).toContain('Date');
    expect(Math.abs(Date.parse(response.headers.get('date') ?? '') - Date.now())).toBeLessThan(30_000);
  });

  it.each([
    ['connect-timeout-ms', '9999999999', ''],
    ['grpc-timeout', '99999999H', 'application/grpc-web+proto'],
  ])('A request may have a %s longer than a timer of Node waits', async (name, value, type) => {
    const url = `http://127.0.0.1:${service.webPort}${path}/GetSlots`;
    const headers = { authorization: `Bearer ${token}`, [name]: value };
    // Node warns of a timer that is too long, and fires it at once.
    const warned = vi.fn();
    process.on('warning', warned);
    const response =
      type === ''
        ? await fetch(`${url}?connect=v1&encoding=json&message=%7B%7D`, { headers })
        : await fetch(url, { method: 'POST', headers: { ...headers, 'content-type': type }, body: new Uint8Array(5) });
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain('grpc-status: 4');
    process.off('warning', warned);
    expect(warned).not.toHaveBeenCalled();
  });

  it('The response has the request id of the request, on success and on failure', async () => {
    const given = { 'x-request-id': 'abc-123' };
    expect((await post('GetSlots', '{}', given)).headers.get('x-request-id')).toBe('abc-123');
    expect((await post('GetSlots', '{', given)).headers.get('x-request-id')).toBe('abc-123');
  });
});

describe('Raw requests on the gRPC port', () => {
  const service = runService('slot');
  let client: Client;
  let metadata: Metadata;
  beforeAll(async () => {
    client = new Client(`127.0.0.1:${service.grpcPort}`, credentials.createInsecure());
    metadata = new Metadata();
    metadata.set('authorization', `Bearer ${await signToken({ staffId: 1 })}`);
  });
  afterAll(() => client.close());

  const call = (method: string, bytes: Buffer, with_ = metadata) =>
    new Promise<ServiceError | null>((resolve) => {
      const asItIs = (value: Buffer) => value;
      client.makeUnaryRequest(`${path}/${method}`, asItIs, asItIs, bytes, with_, (error) => resolve(error));
    });

  it('The gRPC port checks the credential before it decodes the message', async () => {
    expect((await call('GetSlotById', Buffer.from([0xff, 0xff]), new Metadata()))?.code).toBe(status.UNAUTHENTICATED);
  });

  it('A garbled credential on the gRPC port writes nothing to the console', async () => {
    const written = vi.spyOn(console, 'error').mockReturnValue();
    const session = connect(`http://127.0.0.1:${service.grpcPort}`);
    const headers = { ':method': 'POST', ':path': `${path}/GetSlots`, 'content-type': 'application/grpc' };
    const stream = session.request({ ...headers, authorization: 'Bearer é' });
    stream.end(Buffer.alloc(5));
    const [answer] = await once(stream, 'response');
    expect(Number(answer['grpc-status'])).toBe(status.UNAUTHENTICATED);
    expect(written).not.toHaveBeenCalled();
    written.mockRestore();
    session.destroy();
  });

  it.each(['720H', '2592000S', '99999999M'])(
    'A call on the gRPC port may have a timeout of %s, longer than a timer of Node waits',
    async (timeout) => {
      const session = connect(`http://127.0.0.1:${service.grpcPort}`);
      const stream = session.request({
        ...{ ':method': 'POST', ':path': `${path}/GetSlots`, 'content-type': 'application/grpc', te: 'trailers' },
        ...{ authorization: String(metadata.get('authorization')[0]), 'grpc-timeout': timeout },
      });
      stream.end(Buffer.alloc(5));
      stream.resume();
      const [trailers] = await once(stream, 'trailers');
      expect(Number(trailers['grpc-status'])).toBe(status.OK);
      session.destroy();
    },
  );

  it('The gRPC port refuses a message over 4 MiB', async () => {
    expect((await call('GetSlotById', Buffer.alloc(5 * 1024 * 1024)))?.code).toBe(status.RESOURCE_EXHAUSTED);
  });
});

slotContract('The log', (api) => {
  it('The log has one line for each call, without its token and body', async () => {
    const secretName = 'a-name-that-stays-out-of-logs';
    await api.staff.createSlot({
      deliveryTime: '2030-01-01',
      freezeTime: '2030-01-01',
      vendorSnippets: [{ name: secretName, productIds: [1] }],
    });
    await failureOf(api.staff.getSlotById({ id: 0 }));
    await failureOf(api.as('not-a-token').getSlots({}));
    const calls = api.log.filter(({ msg }) => msg === 'call').slice(-3);
    expect(calls).toMatchObject([
      { method: 'slot.v1.SlotService/CreateSlot', code: 'OK', staffId: 1 },
      { method: 'slot.v1.SlotService/GetSlotById', code: 'NOT_FOUND', staffId: 1 },
      { method: 'slot.v1.SlotService/GetSlots', code: 'UNAUTHENTICATED' },
    ]);
    for (const line of calls) {
      expect(line).toMatchObject({ durationMs: expect.any(Number), requestId: expect.any(String) });
    }
    const text = JSON.stringify(api.log);
    expect(text).not.toContain(secretName);
    expect(text).not.toContain('eyJ');
    expect(text).not.toContain('not-a-token');
  });
});
