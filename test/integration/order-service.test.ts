import { readFileSync } from 'node:fs';
import { createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { RedemptionService, RedemptionState } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { crashingShop } from '../support/crashing-shop.ts';
import { newName } from '../support/mutations.ts';
import { addCouponOf, letRunOut } from '../support/redemptions.ts';
import { runService } from '../support/running-service.ts';
import { type Order, takeOrder } from './order-service.ts';

it('docs/redeeming.md shows the program that is tested here', () => {
  const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const program = read('test/integration/order-service.ts')
    .replace(/'.*services\/client\/package\/index\.ts'/, "'delivery-admin-client'")
    .replace(/'.*shared\/gen\/(.*)\.ts'/, "'delivery-admin-client/$1'");
  expect(read('docs/redeeming.md')).toContain(`\`\`\`ts\n${program}\`\`\`\n`);
});

describe('An order service that crashes', () => {
  const service = runService('coupon');
  const redemptions = createClient(RedemptionService, service.staff);

  /** What an order service has, and the coupon of its order, which each user may use once. */
  async function openShop(isDeclined: boolean) {
    const coupon = await addCouponOf(service.sql, { max_limit_for_user: 1 });
    const first: Order = {
      key: newName('order'),
      userId: 1,
      amount: 200,
      code: coupon.code,
      state: 'new',
      discount: 0,
    };
    const { shop, step, saved, isCharged, prepare } = crashingShop(first, isDeclined);
    const steps: typeof redemptions = {
      ...redemptions,
      redeem: (...call) => step(() => redemptions.redeem(...call)),
      confirm: (...call) => step(() => redemptions.confirm(...call)),
      release: (...call) => step(() => redemptions.release(...call)),
    };
    return {
      coupon,
      saved,
      isCharged,
      /** Runs the program. It crashes after so many half steps. */
      run: (halfSteps = Number.POSITIVE_INFINITY) => {
        prepare(halfSteps);
        return takeOrder(saved(), shop, steps);
      },
      list: async () => (await redemptions.listRedemptions({ couponId: coupon.id })).redemptions,
      redeemByAnother: () =>
        redemptions.redeem({ code: coupon.code, userId: 1, orderKey: newName('order'), orderAmount: 200 }),
    };
  }

  const crashes = Array.from({ length: 12 }, (_crash, halfSteps) => halfSteps);

  it.each(crashes)('It takes the order once and uses the coupon once, after a crash at half step %d', async (crash) => {
    const shop = await openShop(false);
    await expect(shop.run(crash)).rejects.toThrow('crashed');
    expect(await shop.run()).toMatchObject({ state: 'taken', discount: 20 });
    expect(shop.isCharged()).toBe(true);
    expect((await shop.list()).map(({ state }) => state)).toEqual([RedemptionState.USED]);
  });

  it.each(crashes)(
    'It gives the coupon back once when the payment is declined, after a crash at half step %d',
    async (crash) => {
      const shop = await openShop(true);
      await expect(shop.run(crash)).rejects.toThrow('crashed');
      expect(await shop.run()).toMatchObject({ state: 'canceled' });
      expect(shop.isCharged()).toBe(false);
      expect((await shop.list()).map(({ state }) => state)).toEqual([RedemptionState.RELEASED]);
      expect((await shop.redeemByAnother()).valid).toBe(true);
    },
  );

  it('It keeps the discount of an order that is paid late, while nobody else has the use', async () => {
    const shop = await openShop(false);
    await expect(shop.run(7)).rejects.toThrow('crashed');
    await letRunOut(service.sql, shop.saved().redemptionId);
    expect(await shop.run()).toMatchObject({ state: 'taken' });
  });

  it.each(crashes)(
    'It uses what an attempt before a crash has held of a coupon that refuses it by now, after another crash at half step %d',
    async (crash) => {
      const shop = await openShop(false);
      await expect(shop.run(2)).rejects.toThrow('crashed');
      const { id } = shop.coupon;
      await service.sql('update coupons set is_invalidated = true, discount_percent = 50 where id = $1', [id]);
      await expect(shop.run(crash)).rejects.toThrow('crashed');
      expect(await shop.run()).toMatchObject({ state: 'taken', discount: 20 });
      expect((await shop.list()).map(({ state }) => state)).toEqual([RedemptionState.USED]);
    },
  );

  it('It takes an order without a discount when the coupon is refused', async () => {
    const shop = await openShop(false);
    expect((await shop.redeemByAnother()).valid).toBe(true);
    expect(await shop.run()).toMatchObject({ state: 'taken', discount: 0 });
  });

  it('It refunds an order whose use staff have released meanwhile', async () => {
    const shop = await openShop(false);
    await expect(shop.run(7)).rejects.toThrow('crashed');
    await redemptions.release({ redemptionId: shop.saved().redemptionId });
    expect(await shop.run()).toMatchObject({ state: 'canceled' });
    expect(shop.isCharged()).toBe(false);
  });

  it('It refunds an order that is paid too late, when another one has the use', async () => {
    const shop = await openShop(false);
    await expect(shop.run(7)).rejects.toThrow('crashed');
    await letRunOut(service.sql, shop.saved().redemptionId);
    expect((await shop.redeemByAnother()).valid).toBe(true);
    expect(await shop.run()).toMatchObject({ state: 'canceled' });
    expect(shop.isCharged()).toBe(false);
  });
});
