import { expect, it } from 'vitest';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { retries } from './bystander.ts';
import { targetOf } from './overload-stage.ts';

const loops = 12;
const saves = 100;
const productIds = { ids: Array.from({ length: 99_000 }, (_, n) => n + 1) };

const seed = `insert into coupons (coupon_code, discount_percent, created_by)
  select 'CODE' || n, 10, 1 from generate_series(1, ${loops + 1}) n`;

const target = targetOf({ service: 'coupon', seed });

it('Updates with a code are fast beside 12 loops of Updates with 99,000 product ids that repeat a code', {
  retry: retries,
}, async () => {
  const heavy = await target().client(CouponService, { subject: 'heavy' });
  const staff = await target().client(CouponService, { subject: 'staff' });
  let isDone = false;
  const loop = async (id: number) => {
    while (!isDone) await heavy.update({ id, updates: { coupon: { couponCode: `CODE${id}`, productIds } } });
  };
  const running = Array.from({ length: loops }, (_, n) => loop(n + 1));
  const timed = async (coupon: { couponCode: string } | { minOrder: number }) => {
    const start = performance.now();
    await staff.update({ id: loops + 1, updates: { coupon } });
    return performance.now() - start;
  };
  const [withCode, without]: number[][] = [[], []];
  try {
    for (let n = 1; n <= saves; n += 1) {
      withCode?.push(await timed({ couponCode: `SAVED${n}` }));
      without?.push(await timed({ minOrder: n }));
    }
  } finally {
    isDone = true;
    await Promise.all(running);
  }
  // On a machine that is busy with other work, what a call without a code takes beside the same loops tells how slow it is.
  expect(p95Of(withCode)).toBeLessThan(Math.max(500, 2 * p95Of(without)));
});

const p95Of = (times: readonly number[] = []) =>
  times.toSorted((left, right) => left - right)[Math.floor(times.length * 0.95)] ?? 0;
