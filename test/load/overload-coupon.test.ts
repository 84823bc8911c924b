import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { signToken, withToken } from '../support/tokens.ts';
import { besides, expectUnharmed, retries } from './bystander.ts';
import { memoryOf, startTarget, type Target } from './overload-stage.ts';

const rows = 150_000;
const maxMemoryMiB = 500;
const largestLimit = 2 ** 31 - 2;

const seed = `
  insert into users (name, mobile) select 'User ' || n, (9000000000 + n)::text from generate_series(1, ${rows}) n;
  insert into coupons (coupon_code, discount_percent, is_apply_for_all, created_by)
    select 'CODE' || n, 10, true, 1 from generate_series(1, ${rows}) n;
  analyze`;

describe(`A caller that asks coupon-service for much, of ${rows} users and coupons`, { retry: retries }, () => {
  let target: Target;
  let transport: ReturnType<typeof createGrpcJsTransport>;
  beforeAll(async () => {
    target = await startTarget({ service: 'coupon', seed, env: { VALIDATE_MISSES_PER_MINUTE: '20' } });
    transport = createGrpcJsTransport(`127.0.0.1:${target.replica.ports.grpcPort}`);
  });
  afterAll(async () => {
    transport.close();
    await target.stop();
  });

  const as = async (subject: string) => createClient(CouponService, withToken(transport, await signToken({ subject })));

  /** Asserts that another caller's coupons are validated as before, and that memory is bounded. */
  async function attack(work: () => Promise<unknown>): Promise<void> {
    let mostMiB = 0;
    const sampling = setInterval(async () => {
      mostMiB = Math.max(mostMiB, await memoryOf(target.replica));
    }, 100);
    const toValidate = { code: 'CODE1', userId: 1, orderAmount: 100 };
    const bystander = await besides(async (timeoutMs) => {
      expect((await target.replica.coupons.validate(toValidate, { timeoutMs })).valid).toBe(true);
    }, work).finally(() => clearInterval(sampling));
    expectUnharmed(bystander);
    expect(mostMiB).toBeLessThan(maxMemoryMiB);
  }

  it('A caller that asks for users far behind the last one, 40 times at once, harms no other one', async () => {
    const coupons = await as('far');
    const offset = 2_000_000_000;
    await attack(async () => {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          coupons.getUsersMiniInfo(at % 2 === 0 ? { offset } : { offset, search: 'User' }),
        ),
      );
      for (const { users } of answers) expect(users).toEqual([]);
    });
  });

  it('A caller that asks for the largest page of coupons, 40 times at once, harms no other one', async () => {
    const coupons = await as('wide');
    await attack(async () => {
      const answers = await Promise.all(Array.from({ length: 40 }, () => coupons.getAll({ limit: largestLimit })));
      for (const page of answers) expect(page.coupons).toHaveLength(1_000);
    });
  });

  it('A caller that guesses codes, 40 at once, gets no more answers than its misses, and harms no other one', async () => {
    const coupons = await as('guessing');
    let answered = 0;
    await attack(async () => {
      for (let round = 0; round < 20; round += 1) {
        const guesses = Array.from({ length: 40 }, (_, at) =>
          coupons.validate({ code: `GUESS${round}-${at}`, userId: 1, orderAmount: 1 }).then(
            () => {
              answered += 1;
            },
            () => undefined,
          ),
        );
        await Promise.all(guesses);
      }
    });
    expect(answered).toBeLessThanOrEqual(20);
  });
});
