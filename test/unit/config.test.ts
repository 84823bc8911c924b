import { describe, expect, it } from 'vitest';
import { readStartSettings, serviceEnvironment } from '../../services/dev/settings.ts';
import { readConsoleConfig } from '../../services/staff-console/config.ts';
import { readConfig } from '../../shared/config/config.ts';
import type { Environment } from '../../shared/config/variables.ts';

const valid = { DATABASE_URL: 'postgres://localhost/x', AUTH_JWT_SECRET: 'x'.repeat(32) };

const eventSecret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 255).toString('base64')}`;

describe('The configuration', () => {
  it('The configuration has the defaults of the design', () => {
    expect(readConfig('slot', valid)).toMatchObject({
      ...{ grpcPort: 50051, webPort: 8051, metricsPort: undefined, sendsTraces: false, auth: { kind: 'secret' } },
      ...{ corsOrigins: [], appUrl: 'http://localhost:3000', businessTimeZone: 'UTC', businessCurrency: undefined },
      ...{ couponCodePrefix: 'DC', couponStaffOnly: false, validateMissesPerMinute: undefined, bindAddress: '0.0.0.0' },
      ...{ auditRetentionDays: undefined, tls: undefined, redisUrl: undefined, redisSentinels: [] },
      storeRefreshDelayMs: 2000,
    });
    expect(readConfig('coupon', valid)).toMatchObject({ grpcPort: 50052, webPort: 8052 });
  });

  it.each([
    ...['DATABASE_URL=', 'DATABASE_URL=mysql://localhost/x', 'DATABASE_DIRECT_URL=localhost', 'DATABASE_PREPARE=no'],
    ...['AUTH_JWT_SECRET=', `AUTH_JWT_SECRET=${'x'.repeat(31)}`, `AUTH_JWT_SECRET=${'x'.repeat(32)},`],
    ...[`AUTH_JWT_SECRET=${'x'.repeat(32)},short`, `AUTH_JWT_SECRET=${'x'.repeat(20)},${'y'.repeat(20)}`],
    `AUTH_JWT_SECRET=${['x', 'y', 'z'].map((letter) => letter.repeat(32)).join()}`,
    ...['AUTH_JWKS_URL=https://idp.example/keys', 'AUTH_JWKS_URL=keys AUTH_JWT_SECRET='],
    'AUTH_AUDIENCE= AUTH_JWT_SECRET= AUTH_JWKS_URL=https://idp.example/keys AUTH_ISSUER=x',
    'AUTH_ISSUER= AUTH_JWT_SECRET= AUTH_JWKS_URL=https://idp.example/keys AUTH_AUDIENCE=x',
    ...['SLOT_GRPC_PORT=65536', 'SLOT_WEB_PORT=http', 'SLOT_METRICS_PORT=-1', 'BIND_ADDRESS=localhost'],
    ...['REDIS_URL=localhost:6379', 'REDIS_SENTINELS=one:26379,two REDIS_URL=redis://main'],
    ...['REDIS_URL= REDIS_SENTINELS=one:26379', 'DRAIN_MS=long', 'STORE_REFRESH_DELAY_MS=-1', 'APP_URL=localhost'],
    ...['COUPON_CODE_PREFIX=dc', 'COUPON_CODE_PREFIX=ABC', 'BUSINESS_TIME_ZONE=Mars/Olympus', 'BUSINESS_CURRENCY=Rs'],
    ...['COUPON_STAFF_ONLY=yes', 'VALIDATE_MISSES_PER_MINUTE=0', 'VALIDATE_MISSES_PER_MINUTE=1000001'],
    ...['LOG_LEVEL=loud', 'OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318', 'TLS_KEY_FILE= TLS_CERT_FILE=tls.crt'],
    ...[
      'EVENTS_SECRET= EVENTS_URL=https://x.example/',
      `EVENTS_URL= EVENTS_SECRET=${eventSecret(24)}`,
      `EVENTS_URL=ftp://x EVENTS_SECRET=${eventSecret(24)}`,
    ],
    ...[`EVENTS_URL=https://me:secret@x.example/ EVENTS_SECRET=${eventSecret(24)}`],
    ...[
      'EVENTS_SECRET=whsec_x',
      `EVENTS_SECRET=${eventSecret(23)}`,
      `EVENTS_SECRET=${eventSecret(65)}`,
      'EVENTS_SECRET=,',
    ].map((secret) => `${secret} EVENTS_URL=https://x.example/`),
    `EVENTS_SECRET=${[24, 24, 24].map(eventSecret)} EVENTS_URL=https://x.example/`,
    `EVENTS_SECRET=${eventSecret(32).slice(6)} EVENTS_URL=https://x.example/`,
    ...['TLS_CERT_FILE= TLS_KEY_FILE=tls.key', 'TLS_CERT_FILE= TLS_CLIENT_CA_FILE=ca.crt'],
  ])('The error for a wrong variable names it, the first one: %s', (variables) => {
    const given = variables.split(' ').map((variable) => variable.split(/=(.*)/, 2));
    const [name = ''] = given[0] ?? [];
    expect(() => readConfig('slot', { ...valid, ...Object.fromEntries(given) })).toThrow(name);
  });

  it('A certificate and its key turn TLS on; without them the ports are in cleartext', () => {
    const files = { TLS_CERT_FILE: 'tls.crt', TLS_KEY_FILE: 'tls.key' };
    expect(readConfig('slot', valid).tls).toBeUndefined();
    expect(readConfig('slot', { ...valid, ...files }).tls).toEqual({ certFile: 'tls.crt', keyFile: 'tls.key' });
    const mutual = readConfig('slot', { ...valid, ...files, TLS_CLIENT_CA_FILE: 'ca.crt' });
    expect(mutual.tls?.clientCaFile).toBe('ca.crt');
  });

  it('EVENTS_URL and one or two EVENTS_SECRET turn webhooks on, and no error quotes a secret', () => {
    const url = 'https://x.example/events?token=hidden';
    const eventsOf = (secret: string, to = url) =>
      readConfig('slot', { ...valid, EVENTS_URL: to, EVENTS_SECRET: secret }).events;
    const [short, long] = [eventSecret(24), eventSecret(64)];
    expect(eventsOf(short)).toEqual({ url, secrets: [short] });
    expect(eventsOf(`${short}, ${long}`)).toEqual({ url, secrets: [short, long] });
    expect(readConfig('slot', valid).events).toBeUndefined();
    for (const [secret, to] of [
      ['whsec_hidden', url],
      [short, 'https://me:hidden@x.example/'],
      [short, 'hidden'],
    ] as const) {
      expect(() => eventsOf(secret, to)).toThrow(/^(?!.*hidden)EVENTS_/s);
    }
  });

  it('A comma separates two secrets', () => {
    const secretsOf = (secret: string) => readConfig('slot', { ...valid, AUTH_JWT_SECRET: secret }).auth;
    const [one, two] = ['a'.repeat(32), 'b'.repeat(32)];
    expect(secretsOf(`${one}, ${two}`)).toMatchObject({ secrets: [one, two] });
  });

  it('npm start keeps to this machine unless BIND_ADDRESS says otherwise', () => {
    const addressOf = (env: Environment) => {
      const given = serviceEnvironment(env, valid.DATABASE_URL, undefined);
      return [readConfig('slot', given).bindAddress, readConsoleConfig(given).bindAddress];
    };
    expect(addressOf(valid)).toEqual(['127.0.0.1', '127.0.0.1']);
    expect(addressOf({ ...valid, BIND_ADDRESS: '0.0.0.0' })).toEqual(['0.0.0.0', '0.0.0.0']);
  });

  it('npm start has the time zone and the currency of the demo wherever it would seed that, unless variables say otherwise', () => {
    const businessOf = (env: Environment) => {
      const { BUSINESS_TIME_ZONE, BUSINESS_CURRENCY } = serviceEnvironment(env, valid.DATABASE_URL, undefined);
      return [BUSINESS_TIME_ZONE, BUSINESS_CURRENCY];
    };
    const { DATABASE_URL: _own, ...embedded } = valid;
    expect(businessOf(embedded)).toEqual(['Asia/Kolkata', 'INR']);
    expect(businessOf({ ...embedded, BUSINESS_TIME_ZONE: 'Europe/Berlin' })).toEqual(['Europe/Berlin', 'INR']);
    expect(businessOf({ ...valid, SEED_DEMO: 'true', BUSINESS_CURRENCY: 'EUR' })).toEqual(['Asia/Kolkata', 'EUR']);
    const neither = [undefined, undefined];
    expect([businessOf(valid), businessOf({ ...embedded, SEED_DEMO: 'false' })]).toEqual([neither, neither]);
  });

  it('npm start refuses TLS, because it prints commands in cleartext', () => {
    const files = { TLS_CERT_FILE: 'tls.crt', TLS_KEY_FILE: 'tls.key' };
    expect(() => readStartSettings({ ...valid, ...files })).toThrow(/^TLS_CERT_FILE is set: .*\nTLS_KEY_FILE is set: /);
  });

  it('The error names all wrong variables at once, and shows no secret', () => {
    const env = { ...valid, SLOT_GRPC_PORT: 'x', DATABASE_URL: 'mysql://admin:hunter2@db/x' };
    expect(() => readConfig('slot', env)).toThrow(/^(?!.*hunter2)[^\n]*\n[^\n]*$/s);
  });
});
