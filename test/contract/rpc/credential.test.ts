import { UnsecuredJWT } from 'jose';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../../shared/config/config.ts';
import { expectError, slotContract } from '../../support/contract.ts';
import { post } from '../../support/post.ts';
import { run } from '../../support/processes.ts';
import { runService } from '../../support/running-service.ts';
import { startTestService } from '../../support/service.ts';
import { signClaims, signToken, type TokenOptions, testSecret } from '../../support/tokens.ts';

const day = 86_400;
const nextMonth = Math.floor(Date.now() / 1000) + 30 * day;

slotContract('The credential', (api) => {
  it('A call without a credential is refused', async () => {
    await expectError(api.as(undefined).getSlots({}), 'AUTHENTICATION_REQUIRED');
  });

  it.each([
    ['garbled', () => 'x.y.z'],
    ['expired', () => signToken({ staffId: 1, expiresIn: -60 })],
    ['signed with another secret', () => signToken({ staffId: 1, key: 'another secret of thirty-two bytes or more' })],
    ['unsigned', () => new UnsecuredJWT({ sub: 'x', staff_id: 1, exp: nextMonth }).encode()],
    ['without a subject', () => signClaims({ staff_id: 1, exp: nextMonth })],
    ['of an empty subject', () => signToken({ staffId: 1, subject: '' })],
    ['without an expiry', () => signClaims({ staff_id: 1, sub: 'x' })],
    ['of a staff id that is text', () => signToken({ staffId: '1' })],
    ['of a staff id that is no integer', () => signToken({ staffId: 1.5 })],
    ['not valid yet', () => signToken({ staffId: 1, claims: { nbf: 4e9 } })],
    ['good for more than 366 days', () => signToken({ staffId: 1, expiresIn: 366 * day + 60 })],
    ['of an expiry in milliseconds', () => signToken({ staffId: 1, claims: { exp: nextMonth * 1000 } })],
  ])('A token that is %s is refused', async (_kind, token) => {
    await expectError(api.as(await token()).getSlots({}), 'AUTHENTICATION_REQUIRED');
  });

  it('A token that is good for 366 days is accepted', async () => {
    await api.as(await signToken({ staffId: 1, expiresIn: 366 * day })).getSlots({});
  });

  it('A token is valid until five seconds after its expiry', async () => {
    await api.as(await signToken({ staffId: 1, expiresIn: -2 })).getSlots({});
  });

  it('A token that was verified before is refused once it has expired', async () => {
    const client = api.as(await signToken({ staffId: 1, expiresIn: -2 }));
    await client.getSlots({});
    await expect.poll(() => client.getSlots({}).catch((error) => error.rawMessage)).toBe('Authentication required');
  });

  it('A staff id that no staff user has counts as no staff identity', async () => {
    await expectError(api.as(await signToken({ staffId: 4711 })).getSlots({}), 'ACCESS_DENIED');
    await expectError(api.as(await signToken({ staffId: 2 ** 40 })).getSlots({}), 'ACCESS_DENIED');
  });

  it('A staff id of null counts as no staff identity', async () => {
    const client = api.as(await signToken({ staffId: null }));
    await expectError(client.getSlots({}), 'ACCESS_DENIED');
    await expectError(client.getDeliverySequence({ id: '4711' }), 'SLOT_NOT_FOUND');
  });

  it('The staff id of a disabled staff user counts as no staff identity', async () => {
    await api.sql(`insert into staff_users (id, name, disabled_at) values (56, 'Gone', now())`);
    const client = api.as(await signToken({ staffId: 56 }));
    await expectError(client.getSlots({}), 'ACCESS_DENIED');
    await api.sql('update staff_users set disabled_at = null where id = 56');
    await client.getSlots({});
  });

  it('The log of every call has the subject of its token, also when the call is refused', async () => {
    const subject = 'someone';
    const [guest, staff] = [api.as(await signToken({ subject })), api.as(await signToken({ subject, staffId: 1 }))];
    await staff.getSlots({});
    await expectError(guest.getSlots({}), 'ACCESS_DENIED');
    const logged = () => api.log.filter(({ msg, sub }) => msg === 'call' && sub === subject);
    await expect.poll(() => logged().map(({ code }) => code)).toEqual(['OK', 'UNAUTHENTICATED']);
  });

  it('A new staff user has a staff identity at once', async () => {
    const client = api.as(await signToken({ staffId: 55 }));
    await expectError(client.getSlots({}), 'ACCESS_DENIED');
    await api.sql(`insert into staff_users (id, name) values (55, 'New')`);
    await client.getSlots({});
  });
});

it('A staff user who is disabled while cached loses the staff identity within 30 s', async () => {
  const service = await startTestService('slot');
  const [now, passed] = [performance.now.bind(performance), { ms: 0 }];
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passed.ms);
  try {
    const token = await signToken({ staffId: 2 });
    const status = async () => (await post(service.webPort, 'GetSlots', token)).status;
    expect(await status()).toBe(200);
    await service.database.sql('update staff_users set disabled_at = now() where id = 2');
    passed.ms = 29_000;
    expect(await status()).toBe(401);
  } finally {
    clock.mockRestore();
    await service.stop();
  }
});

it('While a secret is replaced, both verify and the token command signs with the first; one alone verifies its own tokens', async () => {
  const [first, second] = ['the new secret of thirty-two bytes or more', 'the old secret of thirty-two bytes or more'];
  const both = `${first},${second}`;
  const { stdout } = await run(process.execPath, ['--import', 'tsx', 'services/dev/token.ts'], {
    AUTH_JWT_SECRET: both,
  });
  const keys = [first, second, both, 'a third secret of thirty-two bytes or more'];
  const tokens = [stdout.trim(), ...(await Promise.all(keys.map((key) => signToken({ staffId: 1, key }))))];
  for (const [secrets, expected] of [
    [both, [200, 200, 200, 401, 401]],
    [first, [200, 200, 401, 401, 401]],
    [second, [401, 401, 200, 401, 401]],
  ] as const) {
    const { auth } = readConfig('slot', { DATABASE_URL: 'postgres://localhost/x', AUTH_JWT_SECRET: secrets });
    const service = await startTestService('slot', () => ({ auth }));
    try {
      const answers = await Promise.all(tokens.map((token) => post(service.webPort, 'GetSlots', token)));
      expect(
        answers.map(({ status }) => status),
        secrets,
      ).toEqual(expected);
    } finally {
      await service.stop();
    }
  }
});

describe('The log of refused tokens', () => {
  const key = 'another secret of thirty-two bytes or more';
  const service = runService('slot', ({ auth }) => ({
    auth: { ...auth, kind: 'secret', secrets: [testSecret], issuer: 'idp' },
  }));
  // Five a second are in the log.
  beforeEach(() => service.restart(async () => void service.log.splice(0)));
  const refusals = () => service.log.filter(({ msg }) => msg === 'a token was refused');
  const sign = (options: TokenOptions = {}) => signToken({ ...options, claims: { iss: 'idp', ...options.claims } });
  const long = '\u202e\n'.repeat(1_000);

  it.each<[reason: string, token: () => Promise<string> | string]>([
    ['staff_id is no integer: "1"', () => sign({ staffId: '1' })],
    ['iss is not AUTH_ISSUER: "other"', () => sign({ claims: { iss: 'other' } })],
    [`iss is not AUTH_ISSUER: "${'?\\n'.repeat(1_000)}"`.slice(0, 200), () => sign({ claims: { iss: long } })],
    ['exp has passed: 1700000000', () => sign({ claims: { exp: 1.7e9 } })],
    ['nbf has not come yet: 4000000000', () => sign({ claims: { nbf: 4e9 } })],
    ['exp is more than 366 days ahead: 4000000000', () => sign({ claims: { exp: 4e9 } })],
    ['the algorithm "HS384" is not allowed', () => sign({ header: { alg: 'HS384' } })],
    ['signature verification failed', () => sign({ key })],
    ['it is malformed', () => 'x.y.z'],
    ['the header is no "Bearer <token>"', () => 'x y'],
  ])('A refused token leaves in the log that %s, and the caller gets nothing of it', async (reason, tokenOf) => {
    const token = await tokenOf();
    const answer = await post(service.webPort, 'GetSlots', token, '{}', { 'x-request-id': 'mine' });
    expect(await answer.json()).toMatchObject({ code: 'unauthenticated', message: 'Authentication required' });
    expect(refusals()).toMatchObject([{ level: 'warn', reason, requestId: 'mine' }]);
    expect(JSON.stringify(service.log)).not.toContain(token.split('.').at(-1));
  });

  it('A call without a token leaves no cause in the log, nor does one whose token is good', async () => {
    await post(service.webPort, 'GetSlots', await sign({ staffId: 1 }));
    await post(service.webPort, 'GetSlots', '', '{}', { authorization: '' });
    expect(refusals()).toEqual([]);
  });

  it('Of a flood of refused tokens, five a second are in the log, and then how many more there were', async () => {
    const token = await sign({ key });
    const calls = await Promise.all(Array.from({ length: 50 }, () => post(service.webPort, 'GetSlots', token)));
    expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([401]));
    const further = () => service.log.filter(({ msg }) => msg === 'further tokens were refused');
    const told = () => further().reduce((sum, { tokens }) => sum + Number(tokens), refusals().length);
    await expect.poll(told).toBe(50);
    expect(refusals().length).toBeLessThanOrEqual(5 * (further().length + 1));
  });
});

it('The token command makes no token for longer than the services accept', async () => {
  const token = (ttl: string) =>
    run(process.execPath, ['--import', 'tsx', 'services/dev/token.ts', '--ttl', ttl], { AUTH_JWT_SECRET: testSecret });
  expect(await token('366d')).toMatchObject({ code: 0, stderr: '' });
  expect(await token('367d')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'token: --ttl must be a time such as 30m, 8h or 7d, at most 366d, not "367d"\n',
  });
});
