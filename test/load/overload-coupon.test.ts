import { describe, expect, it } from 'vitest';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { expectNoHarm, retries } from './bystander.ts';
import { targetOf } from './overload-stage.ts';

const rows = 150_000;
const largestLimit = 2 ** 31 - 2;

const seed = `
  insert into users (name, mobile) select 'User ' || n, (9000000000 + n)::text from generate_series(1, ${rows}) n;
  insert into coupons (coupon_code, discount_percent, is_apply_for_all, created_by)
    select 'CODE' || n, 10, true, 1 from generate_series(1, ${rows}) n;
  analyze`;

describe(`A caller that asks coupon-service for much, of ${rows} users and coupons`, { retry: retries }, () => {
  const target = targetOf({ service: 'coupon', seed, env: { VALIDATE_MISSES_PER_MINUTE: '20' } });
  const as = (subject: string) => target().client(CouponService, { subject });

  /** Asserts that another caller's coupons are validated as before, and that memory is bounded. */
  const attack = (work: () => Promise<unknown>) =>
    expectNoHarm(
      target().replica,
      async (timeoutMs) => {
        const toValidate = { code: 'CODE1', userId: 1, orderAmount: 100 };
        expect((await target().replica.coupons.validate(toValidate, { timeoutMs })).valid).toBe(true);
      },
      work,
    );

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
        const guess = (at: number) => coupons.validate({ code: `GUESS${round}-${at}`, userId: 1, orderAmount: 1 });
        const guesses = await Promise.allSettled(Array.from({ length: 40 }, (_, at) => guess(at)));
        answered += guesses.filter(({ status }) => status === 'fulfilled').length;
      }
    });
    expect(answered).toBeLessThanOrEqual(20);
  });
});
