import { generateKeyPairSync, sign } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { UnsecuredJWT } from 'jose';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openAuthenticator } from '../../../shared/auth/authenticator.ts';
import { type KeySetTimes, keySetTimes } from '../../../shared/auth/key-set.ts';
import { Database } from '../../../shared/db/database.ts';
import { createLogger } from '../../../shared/telemetry/logger.ts';
import { Metrics } from '../../../shared/telemetry/metrics.ts';
import { failureOf } from '../../support/contract.ts';
import { type Answer, IdentityProvider } from '../../support/identity-provider.ts';
import { readTestConfig } from '../../support/service.ts';
import { signToken } from '../../support/tokens.ts';

const refused = 'Authentication required';
const unavailable = 'The identity provider is unavailable';
const hour = 3_600_000;
const nextMonth = Math.floor(Date.now() / 1000) + 30 * 86_400;

interface Options {
  /** The keys of the provider, of ES256. */
  readonly kids?: readonly string[];
  readonly times?: Partial<KeySetTimes>;
  /** How the provider answers from the start. */
  readonly answer?: Answer;
}

/** Starts a provider and an authenticator that verifies its tokens. */
async function open({ kids = ['one'], times = {}, answer }: Options = {}) {
  const provider = await IdentityProvider.start(...kids);
  provider.answer = answer;
  const log: Record<string, unknown>[] = [];
  const logger = createLogger('test', 'info', { write: (line) => void log.push(JSON.parse(line)) });
  const metrics = new Metrics(logger);
  const { authenticate, known, close } = await openAuthenticator({
    config: provider.auth,
    // No test asks for a staff user.
    database: new Database(readTestConfig('slot', { DATABASE_URL: 'postgres://localhost/none' }).database, logger),
    metrics,
    logger,
    times: { ...keySetTimes, ...times },
  });
  onTestFinished(() => {
    close();
    provider.close();
  });
  return {
    provider,
    authenticate,
    known,
    close,
    cached: async () => (await metrics.registry.getSingleMetric('verified_tokens_cached')?.get())?.values[0]?.value,
    refusalOf: async (authorization: string) => (await failureOf(authenticate(authorization))).rawMessage,
    /** A token that a key of the provider has signed, and that names another key. */
    ofUnknownKey: (n = 1) => provider.bearer('one', { header: { alg: 'ES256', kid: `unknown ${n}` } }),
    logged: (level: string) => log.filter((line) => line.level === level).map((line) => JSON.stringify(line)),
  };
}

const hang: Answer = () => undefined;
const answering =
  (code: number, body = '', headers = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end(body);

describe('A key set that changes', () => {
  it('A key that leaves the set ends its tokens, while those of other keys are verified again', async () => {
    const { provider, authenticate, known, refusalOf } = await open({ kids: ['one', 'two'], times: { refreshMs: 10 } });
    const [one, two] = [await provider.bearer('one'), await provider.bearer('two')];
    await authenticate(one);
    await authenticate(two);
    await expect.poll(() => provider.requests).toBeGreaterThan(4);
    expect(known(one)).toBeDefined();
    provider.removeKey('one');
    await expect.poll(() => known(one)).toBeUndefined();
    expect(await refusalOf(one)).toBe(refused);
    await authenticate(two);
  });

  it.each<[string, (provider: IdentityProvider) => unknown]>([
    ['A key whose material changes under its id ends its tokens', (provider) => provider.addKey('one')],
    ['A set without keys ends all tokens', (provider) => provider.removeKey('one')],
  ])('%s', async (_rule, change) => {
    const { provider, authenticate, known, refusalOf } = await open({ times: { refreshMs: 10 } });
    const token = await provider.bearer('one');
    await authenticate(token);
    await change(provider);
    await expect.poll(() => known(token)).toBeUndefined();
    expect(await refusalOf(token)).toBe(refused);
  });

  it('A new key is accepted with the first token that names it', async () => {
    const { provider, authenticate } = await open();
    await authenticate(await provider.bearer('one'));
    await provider.addKey('two');
    await authenticate(await provider.bearer('two'));
    expect(provider.requests).toBe(2);
  });

  it('A key that is published while a fetch runs is accepted with the first token that names it', async () => {
    const held: ServerResponse[] = [];
    const { provider, authenticate } = await open({ answer: (response) => held.push(response) });
    await expect.poll(() => held.length).toBe(1);
    const before = provider.keySet();
    await provider.addKey('two');
    const accepted = authenticate(await provider.bearer('two'));
    provider.answer = undefined;
    held[0]?.end(before);
    await accepted;
  });

  it('An unknown key that is not in the set is refused, and the next one is refused without a fetch', async () => {
    const { provider, authenticate, refusalOf, ofUnknownKey } = await open({ times: { unknownKeyMs: hour } });
    await authenticate(await provider.bearer('one'));
    expect(await refusalOf(await ofUnknownKey(1))).toBe(refused);
    expect(provider.requests).toBe(2);
    expect(await refusalOf(await ofUnknownKey(2))).toBe(refused);
    expect(provider.requests).toBe(2);
  });

  it('A stop ends the fetch that runs, and is no failure of the key set', async () => {
    const { provider, close, logged } = await open({ answer: hang });
    await expect.poll(() => provider.open).toBe(1);
    close();
    await expect.poll(() => provider.open).toBe(0);
    expect(logged('warn')).toEqual([]);
  });
});

describe('A key set that is away', () => {
  it.each<[string, Answer, string]>([
    ['answers 500', answering(500), 'status 500'],
    ['redirects', answering(302, '', { location: '/elsewhere' }), 'status 302'],
    ['hangs', hang, 'aborted due to timeout'],
    ['hangs halfway', (response) => response.write('{'), 'aborted due to timeout'],
    ['hangs up', (response) => response.destroy(), 'fetch failed'],
    ['is no JSON', answering(200, '<html>'), 'is not valid JSON'],
    ['has no list of keys', answering(200, '{}'), 'JSON Web Key Set malformed'],
    ['is too large', answering(200, ' '.repeat(2 ** 20 + 1)), 'larger than 1048576 bytes'],
  ])('While the key set %s, the known keys serve on, and the log has the cause', async (_how, answer, cause) => {
    const opened = await open({ times: { timeoutMs: 1000, unknownKeyMs: hour } });
    const { provider, authenticate, known, refusalOf, ofUnknownKey, logged } = opened;
    const token = await provider.bearer('one');
    const identity = await authenticate(token);
    provider.answer = answer;
    expect(await refusalOf(await ofUnknownKey(1))).toBe(unavailable);
    expect(await refusalOf(await ofUnknownKey(2))).toBe(unavailable);
    expect(known(token)).toBe(identity);
    await authenticate(await provider.bearer('one', { subject: 'another' }));
    expect(provider.requests).toBe(2);
    expect(logged('warn')).toEqual([expect.stringContaining(cause)]);
    expect(logged('warn')[0]).toContain('the keys known so far serve on');
  });

  it('Without keys from the start, every token is unavailable and the log has the cause, until the key set is back', async () => {
    const { provider, authenticate, refusalOf, logged } = await open({
      answer: answering(503),
      times: { unknownKeyMs: 0 },
    });
    await expect.poll(() => logged('warn')).toEqual([expect.stringContaining('status 503')]);
    const token = await provider.bearer('one');
    expect(await refusalOf(token)).toBe(unavailable);
    expect(logged('warn')).toHaveLength(2);
    provider.answer = undefined;
    await authenticate(token);
  });

  it('The known keys serve on for a day after the last fetch that succeeded', async () => {
    const { provider, authenticate, known, refusalOf } = await open({ times: { refreshMs: 10, unknownKeyMs: 0 } });
    const token = await provider.bearer('one', { expiresIn: 48 * 3600 });
    await authenticate(token);
    provider.answer = answering(500);
    const [now, passed] = [Date.now, { ms: 0 }];
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + passed.ms);
    onTestFinished(() => clock.mockRestore());
    const failAgain = async () => {
      const before = provider.requests;
      await expect.poll(() => provider.requests).toBeGreaterThan(before + 2);
    };
    await failAgain();
    passed.ms = 23.9 * hour;
    await failAgain();
    expect(known(token)).toBeDefined();
    passed.ms = 24 * hour;
    await failAgain();
    expect(known(token)).toBeUndefined();
    expect(await refusalOf(token)).toBe(unavailable);
  });

  it('While a fetch hangs and 1,200 tokens of unknown keys wait for it, known keys and tokens are answered at once', async () => {
    const { provider, authenticate, ofUnknownKey } = await open({ times: { timeoutMs: hour } });
    const token = await provider.bearer('one');
    const identity = await authenticate(token);
    const held: ServerResponse[] = [];
    provider.answer = (response) => held.push(response);
    const junk = await Promise.all(Array.from({ length: 1200 }, (_, n) => ofUnknownKey(n)));
    const outcomes = Promise.allSettled(junk.map(authenticate));
    await expect.poll(() => held.length).toBe(1);
    expect(await authenticate(token)).toBe(identity);
    await authenticate(await provider.bearer('one', { subject: 'another' }));
    expect([provider.requests, provider.open, provider.maxOpen]).toEqual([2, 1, 1]);
    for (const response of held) response.end(provider.keySet());
    expect(new Set((await outcomes).map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(provider.requests).toBe(2);
  });

  it.each<[string, (provider: IdentityProvider) => Promise<string> | string]>([
    ['no token', () => 'Bearer x.y.z'],
    ['unsigned', () => `Bearer ${new UnsecuredJWT({ sub: 'x', exp: nextMonth, iss: 'idp', aud: 'admin' }).encode()}`],
    ['signed with a secret', async () => `Bearer ${await signToken({ claims: { iss: 'idp', aud: 'admin' } })}`],
    ['of an algorithm that is not allowed', (provider) => provider.bearer('p384')],
    [
      'signed by another than the key that it names',
      (provider) => provider.bearer('two', { header: { alg: 'ES256', kid: 'one' } }),
    ],
    ['expired', (provider) => provider.bearer('new', { expiresIn: -60 })],
    ['of another issuer', (provider) => provider.bearer('new', { claims: { iss: 'other' } })],
    ['of another audience', (provider) => provider.bearer('new', { claims: { aud: 'other' } })],
  ])('What is %s is refused without waiting for a fetch', async (_what, bearerOf) => {
    const { provider, authenticate, refusalOf } = await open({ kids: ['one', 'two'], times: { timeoutMs: hour } });
    await provider.addKey('p384', 'ES384');
    await authenticate(await provider.bearer('one'));
    provider.answer = hang;
    await provider.addKey('new');
    const requests = provider.requests;
    expect(await refusalOf(await bearerOf(provider))).toBe(refused);
    expect(provider.requests).toBe(requests);
  });
});

describe('A token of a key set', () => {
  it.each(['RS256', 'ES256', 'EdDSA'])('A token of %s is accepted', async (algorithm) => {
    const { provider, authenticate } = await open();
    await provider.addKey('key', algorithm);
    const { subject } = await authenticate(await provider.bearer('key', { subject: 'someone' }));
    expect(subject).toBe('someone');
  });

  it('A token that names no key is accepted, whichever key has signed it', async () => {
    const { provider, authenticate } = await open({ kids: ['one', 'two'] });
    for (const kid of ['one', 'two']) await authenticate(await provider.bearer(kid, { header: { alg: 'ES256' } }));
  });

  it('A key of RSA under 2,048 bits is left out, and locks out no token without a kid', async () => {
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const { provider, authenticate, refusalOf } = await open({ kids: [] });
    await provider.addKey('strong', 'RS256');
    const { keys } = JSON.parse(provider.keySet());
    const jwk = { ...weak.publicKey.export({ format: 'jwk' }), kid: 'weak' };
    provider.answer = answering(200, JSON.stringify({ keys: [jwk, ...keys] }));
    await authenticate(await provider.bearer('strong', { header: { alg: 'RS256' } }));
    const head = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const text = `${head({ alg: 'RS256' })}.${head({ sub: 'x', exp: nextMonth, iss: 'idp', aud: 'admin' })}`;
    const signature = sign('sha256', Buffer.from(text), weak.privateKey).toString('base64url');
    expect(await refusalOf(`Bearer ${text}.${signature}`)).toBe(refused);
  });

  it('A token takes one place among those that are known, however its header is spelled', async () => {
    const { provider, authenticate, refusalOf, cached } = await open();
    const header = await provider.bearer('one');
    const token = header.slice('Bearer '.length);
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) await authenticate(`${scheme} ${token}`);
    // The last character of the signature has four bits that are not used, and other alphabets spell it, too.
    const last = String.fromCharCode(token.charCodeAt(token.length - 1) + 1);
    const spellings = [`  ${token}`, ` ${token} `, ` ${token}=`, ` ${token}==`, ` ${token.slice(0, -1)}${last}`];
    for (const spelling of spellings) expect(await refusalOf(`Bearer${spelling}`), spelling).toBe(refused);
    expect(await cached()).toBe(1);
  });

  it('A token is verified once for 100 calls at once', async () => {
    const { provider, authenticate } = await open();
    await authenticate(await provider.bearer('one'));
    const token = await provider.bearer('one', { subject: 'someone' });
    const verify = vi.spyOn(crypto.subtle, 'verify');
    onTestFinished(() => verify.mockRestore());
    const identities = await Promise.all(Array.from({ length: 100 }, () => authenticate(token)));
    expect(new Set(identities).size).toBe(1);
    expect(verify).toHaveBeenCalledTimes(1);
  });

  it('A token is known once it is verified, with one identity', async () => {
    const { provider, authenticate, known } = await open();
    const [token, other] = [await provider.bearer('one'), await provider.bearer('one', { expiresIn: -60 })];
    expect(known(token)).toBeUndefined();
    const identity = await authenticate(token);
    expect(known(token)).toBe(identity);
    expect(await authenticate(token)).toBe(identity);
    await failureOf(authenticate(other));
    for (const unknown of [undefined, '', 'Basic eDp5', 'Bearer x.y.z', other]) expect(known(unknown)).toBeUndefined();
  });
});
