import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../../shared/config/config.ts';
import { expectError, slotContract } from '../../support/contract.ts';
import { startTestService } from '../../support/service.ts';
import { signClaims, signToken } from '../../support/tokens.ts';

const refused = {
  code: 'Unauthenticated',
  message: 'Authentication required',
  reason: 'AUTHENTICATION_REQUIRED',
} as const;
const denied = { code: 'Unauthenticated', message: 'Access denied', reason: 'ACCESS_DENIED' } as const;

slotContract('The credential', (api) => {
  it('is required', async () => {
    await expectError(api.as(undefined).getSlots({}), refused);
  });

  it.each([
    ['garbled', () => 'x.y.z'],
    ['expired', () => signToken({ staffId: 1, expiresIn: -60 })],
    [
      'signed with another secret',
      () => signToken({ staffId: 1, secret: 'another secret of thirty-two bytes or more' }),
    ],
    ['unsigned', () => new UnsecuredJWT({ sub: 'x', staff_id: 1, exp: 4e9 }).encode()],
    ['without a subject', () => signClaims({ staff_id: 1, exp: 4e9 })],
    ['of an empty subject', () => signToken({ staffId: 1, subject: '' })],
    ['without an expiry', () => signClaims({ staff_id: 1, sub: 'x' })],
    ['of a staff id that is text', () => signToken({ staffId: '1' })],
    ['of a staff id that is no integer', () => signToken({ staffId: 1.5 })],
    ['not valid yet', () => signToken({ staffId: 1, claims: { nbf: 4e9 } })],
  ])('is refused when it is %s', async (_kind, token) => {
    await expectError(api.as(await token()).getSlots({}), refused);
  });

  it('may be five seconds past its expiry', async () => {
    await api.as(await signToken({ staffId: 1, expiresIn: -2 })).getSlots({});
  });

  it('stops counting when it expires, also once it was verified', async () => {
    const client = api.as(await signToken({ staffId: 1, expiresIn: -2 }));
    await client.getSlots({});
    await expect
      .poll(() => client.getSlots({}).catch((error) => error.rawMessage), { timeout: 8000 })
      .toBe(refused.message);
  });

  it('counts as without a staff identity when no such staff user exists', async () => {
    await expectError(api.as(await signToken({ staffId: 4711 })).getSlots({}), denied);
    await expectError(api.as(await signToken({ staffId: 2 ** 40 })).getSlots({}), denied);
  });

  it('counts as without a staff identity when its staff id is null', async () => {
    const client = api.as(await signToken({ staffId: null }));
    await expectError(client.getSlots({}), denied);
    await expectError(client.getDeliverySequence({ id: '4711' }), {
      code: 'NotFound',
      message: 'Slot not found',
      reason: 'SLOT_NOT_FOUND',
    });
  });

  it('counts as without a staff identity when the staff user is disabled', async () => {
    await api.sql(`insert into staff_users (id, name, disabled_at) values (56, 'Gone', now())`);
    const client = api.as(await signToken({ staffId: 56 }));
    await expectError(client.getSlots({}), denied);
    await api.sql('update staff_users set disabled_at = null where id = 56');
    await client.getSlots({});
  });

  it('leaves its subject in the log of every call, also of one that is refused', async () => {
    const subject = `someone ${api.protocol.name}`;
    const [guest, staff] = [api.as(await signToken({ subject })), api.as(await signToken({ subject, staffId: 1 }))];
    await staff.getSlots({});
    await expectError(guest.getSlots({}), denied);
    const logged = () => api.log.filter(({ msg, sub }) => msg === 'call' && sub === subject);
    await expect.poll(() => logged().map(({ code }) => code)).toEqual(['OK', 'UNAUTHENTICATED']);
  });

  it('counts at once for a staff user who is new', async () => {
    const client = api.as(await signToken({ staffId: 55 }));
    await expectError(client.getSlots({}), denied);
    await api.sql(`insert into staff_users (id, name) values (55, 'New')`);
    await client.getSlots({});
  });

  it('is judged before the request', async () => {
    const request = { deliveryTime: 'x', freezeTime: 'y', vendorSnippets: [{ name: '', productIds: [] }] };
    await expectError(api.as('x.y.z').createSlot(request), refused);
  });

  it('is judged before the staff identity, and the declared bounds between them', async () => {
    const request = { slotId: 1 };
    await expectError(api.guest.updateSlotCapacity({ ...request, isCapacityFull: true }), denied);
    const error = await api.guest.updateSlotCapacity(request).catch((thrown) => thrown.rawMessage);
    expect(error).toBe('is_capacity_full: value is required');
  });
});

describe('A staff user who is known', () => {
  it('counts as none within 30 s of being disabled', async () => {
    const service = await startTestService('slot');
    const [now, passed] = [performance.now.bind(performance), { ms: 0 }];
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passed.ms);
    try {
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${await signToken({ staffId: 2 })}`,
      };
      const status = async () => {
        const url = `http://127.0.0.1:${service.webPort}/slot.v1.SlotService/GetSlots`;
        return (await fetch(url, { method: 'POST', headers, body: '{}' })).status;
      };
      expect(await status()).toBe(200);
      await service.database.sql('update staff_users set disabled_at = now() where id = 2');
      passed.ms = 29_000;
      expect(await status()).toBe(401);
    } finally {
      clock.mockRestore();
      await service.stop();
    }
  });
});

describe('A credential of two secrets', () => {
  it('is taken when either of them has signed it, and of no other', async () => {
    const [first, second] = [
      'the new secret of thirty-two bytes or more',
      'the old secret of thirty-two bytes or more',
    ];
    const variables = { DATABASE_URL: 'postgres://localhost/x', AUTH_JWT_SECRET: `${first},${second}` };
    const service = await startTestService('slot', () => ({ auth: readConfig('slot', variables).auth }));
    try {
      for (const [secret, expected] of [
        [first, 200],
        [second, 200],
        [`${first},${second}`, 401],
        ['a third secret of thirty-two bytes or more', 401],
      ] as const) {
        const authorization = `Bearer ${await signToken({ staffId: 1, secret })}`;
        const headers = { 'content-type': 'application/json', authorization };
        const url = `http://127.0.0.1:${service.webPort}/slot.v1.SlotService/GetSlots`;
        expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status, secret).toBe(expected);
      }
    } finally {
      await service.stop();
    }
  });
});

describe('A credential of a key set', () => {
  it('is taken from its issuer and for its audience only, in an algorithm of its key', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }] });
    const provider = createServer((_request, response) => response.end(keys));
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const address = provider.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const service = await startTestService('slot', () => ({
      auth: { kind: 'jwks', url: new URL(`http://127.0.0.1:${port}/keys`), issuer: 'idp', audience: 'admin' },
    }));
    const sign = (issuer: string, audience: string) =>
      new SignJWT({ staff_id: 1 })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setSubject('x')
        .setExpirationTime('1h')
        .setIssuer(issuer)
        .setAudience(audience)
        .sign(privateKey);
    const status = async (token: string) => {
      const answer = await fetch(`http://127.0.0.1:${service.webPort}/slot.v1.SlotService/GetSlots`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `bearer ${token}` },
        body: '{}',
      });
      await answer.text();
      return answer.status;
    };
    try {
      expect(await status(await sign('idp', 'admin'))).toBe(200);
      expect(await status(await sign('other', 'admin'))).toBe(401);
      expect(await status(await sign('idp', 'other'))).toBe(401);
      expect(await status(await signToken({ staffId: 1, secret: keys }))).toBe(401);
    } finally {
      await service.stop();
      await new Promise((resolve) => provider.close(resolve));
    }
  });
});
