import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readConsoleConfig } from '../../services/staff-console/config.ts';
import { startConsole } from '../../services/staff-console/server.ts';
import { ConsoleProcess, type RawAnswer, sendRaw } from '../support/console-process.ts';
import { listen } from '../support/listen.ts';

/** The sources that a directive of the answer's Content-Security-Policy allows. */
function allowed({ headers }: RawAnswer, directive: string): string[] {
  const parts = String(headers['content-security-policy']).split('; ');
  const [, ...sources] = parts.find((part) => part.startsWith(`${directive} `))?.split(' ') ?? [];
  return sources;
}

/** Connects, sends a text, and resolves once the server has answered or, without a text, once it is connected. */
async function open(port: number, text = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve) => socket.once('connect', resolve));
  if (text === '') return socket;
  socket.write(text);
  await new Promise((resolve) => socket.once('data', resolve));
  return socket;
}

describe('The server of the console', () => {
  let running: ConsoleProcess;
  let port: number;
  let script: string;

  beforeAll(async () => {
    running = new ConsoleProcess({
      ...{ CONSOLE_SLOT_URL: 'https://slots.example/api', CONSOLE_COUPON_URL: 'https://coupons.example' },
      CONSOLE_OIDC_ISSUER: 'https://idp.example/realms/shop',
      ...{ CONSOLE_OIDC_CLIENT_ID: `"console" 'of' <staff> & $& $\``, CONSOLE_OIDC_ORIGINS: 'https://token.example' },
      ...{ BUSINESS_TIME_ZONE: 'Asia/Kolkata', BUSINESS_CURRENCY: 'INR' },
    });
    port = await running.serving();
    const { body } = await sendRaw(port, '/');
    script = /src="(\/assets\/[^"]+\.js)"/.exec(body.toString())?.[1] ?? '';
  });

  afterAll(() => running.stop());

  it.each(['/', '/slots', '/coupons/7?tab=audit', '/signed-in?code=x&state=y', '/no/such/page', '//twice'])(
    'The console answers %s with its page, which no cache keeps',
    async (address) => {
      const { status, headers, body } = await sendRaw(port, address);
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        ...{ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
        ...{ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer' },
      });
      expect(body.toString()).toContain('<div id="page"></div>');
    },
  );

  it('The page may load its own scripts and styles, and call the services and the provider; nothing else', async () => {
    const answer = await sendRaw(port, '/');
    expect(allowed(answer, 'default-src')).toEqual(["'none'"]);
    expect(allowed(answer, 'script-src')).toEqual(["'self'"]);
    expect(allowed(answer, 'connect-src')).toEqual([
      "'self'",
      ...['https://slots.example', 'https://coupons.example', 'https://idp.example', 'https://token.example'],
    ]);
    expect(allowed(answer, 'img-src')).toEqual(["'self'", 'https:', 'data:']);
    expect(allowed(answer, 'frame-ancestors')).toEqual(["'none'"]);
    expect(answer.headers['content-security-policy']).not.toMatch(/unsafe|frame-src|\*/);
  });

  it('The nonce of the page differs each time, and stands in the page', async () => {
    const answers = await Promise.all([sendRaw(port, '/'), sendRaw(port, '/')]);
    const nonces = answers.map((answer) => /^'nonce-(.{24})'$/.exec(allowed(answer, 'style-src')[1] ?? '')?.[1] ?? '');
    expect(new Set(nonces).size).toBe(2);
    for (const [i, { body }] of answers.entries()) {
      expect(body.toString()).toContain(`nonce="${nonces[i]}"`);
      expect(body.toString()).not.toContain('CSP_NONCE');
    }
  });

  it('No variable breaks out of the page in which it stands', async () => {
    const { body } = await sendRaw(port, '/');
    const [, content = ''] = /<meta name="console-config" content='([^']*)'>/.exec(body.toString()) ?? [];
    expect(content).not.toContain('<');
    const json = content.replaceAll('&lt;', '<').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
    expect(JSON.parse(json)).toEqual({
      ...{ slotUrl: 'https://slots.example/api', couponUrl: 'https://coupons.example' },
      oidc: { issuer: 'https://idp.example/realms/shop', clientId: `"console" 'of' <staff> & $& $\``, scope: 'openid' },
      ...{ timeZone: 'Asia/Kolkata', currency: 'INR' },
    });
  });

  it('The scripts of the page are kept by browsers for a year', async () => {
    const { status, headers } = await sendRaw(port, script);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('public,max-age=31536000,immutable');
    expect(headers['content-type']).toMatch(/^text\/javascript/);
    expect(headers.vary).toBe('Accept-Encoding');
  });

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('The scripts of the page are compressed with %s for browsers that take it', async (encoding, decompress) => {
    const plain = await sendRaw(port, script);
    const packed = await sendRaw(port, script, { headers: { 'accept-encoding': encoding } });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(packed.headers['content-encoding']).toBe(encoding);
    expect(packed.body.length).toBeLessThan(plain.body.length / 2);
    expect(decompress(packed.body).equals(plain.body)).toBe(true);
  });

  it('An asset that is not there is not found, and no cache remembers that', async () => {
    const { status, headers } = await sendRaw(port, '/assets/main-of-another-release.js');
    expect(status).toBe(404);
    expect(headers['cache-control']).toBe('no-store');
  });

  it.each([
    '/assets/../../main.js',
    '/assets/../index.html',
    '/assets/..%2f..%2fmain.js',
    '/assets/%2e%2e/%2e%2e/main.js',
    '/assets/..\\..\\main.js',
    '/assets/%2e%2e%5c%2e%2e%5cmain.js',
    '/assets//etc/passwd',
    '/assets/%00',
    '/assets/%',
    '/assets/',
  ])('The path %s leads to no file outside the assets', async (address) => {
    expect(await sendRaw(port, address)).toMatchObject({ status: 404, body: Buffer.from('404\n') });
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('The method %s is not allowed', async (method) => {
    const { status, headers } = await sendRaw(port, '/', { method });
    expect(status).toBe(405);
    expect(headers.allow).toBe('GET, HEAD');
  });

  it('HEAD has the headers of GET, and no body', async () => {
    for (const address of ['/slots', script]) {
      const { status, headers, body } = await sendRaw(port, address, { method: 'HEAD' });
      expect({ status, length: body.length }).toEqual({ status: 200, length: 0 });
      expect(headers['cache-control']).toMatch(/^no-store$|immutable$/);
    }
  });

  it.each(['/healthz', '/readyz'])('A probe of %s succeeds', async (address) => {
    expect(await sendRaw(port, address)).toMatchObject({ status: 200, body: Buffer.from('ok\n') });
  });
});

describe('What strangers may cost the console', () => {
  let running: ConsoleProcess;
  let port: number;

  beforeAll(async () => {
    running = new ConsoleProcess();
    port = await running.serving();
  });

  afterAll(() => running.stop());

  it('A header of more than 8 KiB is refused, and one that a provider’s answer needs is not', async () => {
    expect(await sendRaw(port, `/signed-in?code=${'x'.repeat(6_000)}`)).toMatchObject({ status: 200 });
    expect(await sendRaw(port, '/', { headers: { cookie: 'x'.repeat(9_000) } })).toMatchObject({ status: 431 });
  });

  it('Beyond 1,000 connections further ones are closed, until others end', async () => {
    const sockets: Socket[] = [];
    for (let n = 0; n < 10; n += 1) {
      sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => open(port)))));
    }
    const further = await open(port);
    await new Promise((resolve) => further.once('close', resolve));
    expect(sockets.filter(({ closed }) => closed)).toEqual([]);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => sendRaw(port, '/healthz').catch(() => undefined)).toMatchObject({ status: 200 });
  });

  it('A connection that has not sent a whole header within 10 seconds is closed', async () => {
    const begunAt = performance.now();
    const sockets = await Promise.all([open(port), open(port)]);
    sockets[1]?.write('GET / HTTP/1.1\r\nhost: ');
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve))));
    expect(performance.now() - begunAt).toBeGreaterThan(9_000);
  }, 25_000);
});

describe('A console that starts and stops', () => {
  it('The console stops within a second of SIGTERM, whatever its connections do', async () => {
    const running = new ConsoleProcess();
    const port = await running.serving();
    const sockets = await Promise.all([
      open(port),
      open(port, 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'),
      // An answer, and the half of another request.
      open(port, 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\n'),
    ]);
    expect(sockets.filter(({ closed }) => closed)).toEqual([]);
    const askedAt = performance.now();
    expect(await running.stop()).toEqual({ code: 0, stderr: '' });
    expect(performance.now() - askedAt).toBeLessThan(1_000);
  });

  it('A console that is given wrong variables says so with a line for each', async () => {
    const { ended } = new ConsoleProcess({ CONSOLE_PORT: 'http', CONSOLE_OIDC_CLIENT_ID: 'console' });
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    expect(stderr.split('\n')).toEqual([
      'staff-console: CONSOLE_OIDC_ISSUER is not set: CONSOLE_OIDC_CLIENT_ID needs it',
      'staff-console: CONSOLE_PORT must be a port from 0 to 65535, not "http"',
      '',
    ]);
  });

  it('A console whose port is taken says so in a line', async () => {
    const server = createServer();
    const port = await listen(server);
    onTestFinished(() => void server.close());
    const { ended } = new ConsoleProcess({ CONSOLE_PORT: String(port) });
    expect(await ended).toEqual({ code: 1, stderr: `staff-console: port ${port} is in use by another process\n` });
  });

  it('A console whose page was not built says what to run', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'console-test-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const started = startConsole(readConsoleConfig({ CONSOLE_PORT: '0' }), folder);
    await expect(started).rejects.toMatchObject({
      name: 'ConfigError',
      message: `there is no built page in ${folder}: run \`npm run build\` first`,
    });
  });
});
