import { ConnectError, createClient } from '@connectrpc/connect';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { IdentityProvider } from '../support/identity-provider.ts';
import { post } from '../support/post.ts';
import { withToken } from '../support/tokens.ts';
import { besides, expectUnharmed, retries } from './bystander.ts';
import { memoryOf, startTarget, type Target } from './overload-stage.ts';

const maxMemoryMiB = 500;
/** Within which the tokens of a key end that has left the set. */
const revocationMs = 60_000;

describe('The key set of an identity provider', { retry: retries }, () => {
  let provider: IdentityProvider;
  let target: Target;
  let transport: ReturnType<typeof createGrpcJsTransport>;
  let token: string;
  beforeEach(async () => {
    provider = await IdentityProvider.start('first');
    const { auth } = provider;
    if (auth.kind !== 'jwks') throw new Error('the provider has no key set');
    const env = {
      AUTH_JWT_SECRET: '',
      AUTH_JWKS_URL: auth.url.href,
      AUTH_ISSUER: auth.issuer,
      AUTH_AUDIENCE: auth.audience,
    };
    target = await startTarget({ env });
    transport = createGrpcJsTransport(`127.0.0.1:${target.replica.ports.grpcPort}`);
    token = await tokenOf('first');
  });
  afterEach(async () => {
    transport.close();
    await target.stop();
    provider.close();
  });

  const tokenOf = async (kid: string) =>
    (await provider.bearer(kid, { staffId: 1, subject: 'a caller' })).replace('Bearer ', '');
  const slots = () => createClient(SlotService, withToken(transport, token));

  it('While it hangs and strangers send 1,200 tokens of unknown keys, a caller whose token is known is not harmed', async () => {
    await slots().getSlots({});
    provider.answer = () => undefined;
    const junk = await Promise.all(
      Array.from({ length: 1_200 }, (_, at) =>
        provider.bearer('first', { subject: `junk ${at}`, header: { alg: 'ES256', kid: `unknown ${at}` } }),
      ),
    );
    let mostMiB = 0;
    const bystander = await besides(
      (timeoutMs) => slots().getSlots({}, { timeoutMs }),
      async () => {
        const answers = junk.map(async (bearer) => {
          const headers = { authorization: bearer };
          const asked = post(target.replica.ports.webPort, 'GetSlots', '', '{}', headers);
          // Of more strangers than there is room for, the oldest lose their connection.
          const status = await asked.then(
            (response) => response.status,
            () => 'closed',
          );
          mostMiB = Math.max(mostMiB, await memoryOf(target.replica));
          return status;
        });
        expect(new Set(await Promise.all(answers))).toEqual(new Set([503, 'closed']));
      },
    );
    expectUnharmed(bystander);
    expect(provider.maxOpen).toBe(1);
    expect(mostMiB).toBeLessThan(maxMemoryMiB);
  });

  it('Calls and streams of a key that has left it end within 60 s, and those of another key go on', async () => {
    await provider.addKey('second');
    const second = createClient(SlotService, withToken(transport, await tokenOf('second')));
    await slots().getSlots({});
    await second.getSlots({});
    const stores = createClient(SlotStoreService, withToken(transport, token));
    const streamEnd = (async () => {
      for await (const _version of stores.watchStore({}));
    })().catch((error: unknown) => ConnectError.from(error).rawMessage);
    provider.removeKey('first');
    const outcome = () =>
      slots()
        .getSlots({})
        .then(
          () => 'answered',
          (error: unknown) => ConnectError.from(error).rawMessage,
        );
    await expect.poll(outcome, { timeout: revocationMs, interval: 500 }).toBe('Authentication required');
    expect(await streamEnd).toBe('Authentication required');
    await second.getSlots({});
  });
});
