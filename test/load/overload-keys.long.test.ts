import { ConnectError } from '@connectrpc/connect';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { IdentityProvider } from '../support/identity-provider.ts';
import { post } from '../support/post.ts';
import { outcomeOf } from '../support/slot-writes.ts';
import { expectNoHarm, retries } from './bystander.ts';
import { startTarget, type Target } from './overload-stage.ts';

/** Within which the tokens of a key end that has left the set. */
const revocationMs = 60_000;

describe('The key set of an identity provider', { retry: retries }, () => {
  let provider: IdentityProvider;
  let target: Target;
  beforeEach(async () => {
    provider = await IdentityProvider.start('first');
    const { auth } = provider;
    if (auth.kind !== 'jwks') throw new Error('the provider has no key set');
    const { url, issuer: AUTH_ISSUER, audience: AUTH_AUDIENCE } = auth;
    target = await startTarget({ env: { AUTH_JWT_SECRET: '', AUTH_JWKS_URL: url.href, AUTH_ISSUER, AUTH_AUDIENCE } });
  });
  afterEach(async () => {
    await target.stop();
    provider.close();
  });

  const tokenOf = async (kid: string) =>
    (await provider.bearer(kid, { staffId: 1, subject: 'a caller' })).replace('Bearer ', '');
  const clientOf = (kid: string) => tokenOf(kid).then((token) => target.client(SlotService, token));

  it('While it hangs and strangers send 1,200 tokens of unknown keys, a caller whose token is known is not harmed', async () => {
    const slots = await clientOf('first');
    await slots.getSlots({});
    provider.answer = () => undefined;
    const junk = await Promise.all(
      Array.from({ length: 1_200 }, (_, at) =>
        provider.bearer('first', { subject: `junk ${at}`, header: { alg: 'ES256', kid: `unknown ${at}` } }),
      ),
    );
    const attack = async () => {
      const answers = junk.map((authorization) => {
        const asked = post(target.webPort, 'GetSlots', '', '{}', { authorization });
        // Of more strangers than there is room for, the oldest lose their connection.
        return asked.then(
          (response) => response.status,
          () => 'closed',
        );
      });
      expect(new Set(await Promise.all(answers))).toEqual(new Set([503, 'closed']));
    };
    await expectNoHarm(target.replica, (timeoutMs) => slots.getSlots({}, { timeoutMs }), attack);
    expect(provider.maxOpen).toBe(1);
  });

  it('Calls and streams of a key that has left it end within 60 s, and those of another key go on', async () => {
    await provider.addKey('second');
    const [first, second] = [await clientOf('first'), await clientOf('second')];
    await first.getSlots({});
    await second.getSlots({});
    const stores = await target.client(SlotStoreService, await tokenOf('first'));
    const streamEnd = (async () => {
      for await (const _version of stores.watchStore({}));
    })().catch((error: unknown) => ConnectError.from(error).rawMessage);
    provider.removeKey('first');
    const refusal = async () => (await outcomeOf(first.getSlots({})))?.rawMessage;
    await expect.poll(refusal, { timeout: revocationMs, interval: 500 }).toBe('Authentication required');
    expect(await streamEnd).toBe('Authentication required');
    await second.getSlots({});
  });
});
