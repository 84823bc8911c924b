import { createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { RedemptionService, RedemptionState } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotBookingService, SlotBookingState } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { addSlot, change, letBookingRunOut } from '../support/bookings.ts';
import { crashingShop } from '../support/crashing-shop.ts';
import { newName } from '../support/mutations.ts';
import { addCouponOf, letRunOut } from '../support/redemptions.ts';
import { read } from '../support/repository.ts';
import { runService } from '../support/running-service.ts';
import { type Holds, type Order, takeOrder } from './slot-order-service.ts';

it('docs/booking.md shows the program that is tested here', () => {
  const program = read('test/integration/slot-order-service.ts')
    .replace(/'.*services\/client\/package\/index\.ts'/, "'delivery-admin-client'")
    .replaceAll(/'.*shared\/gen\/(.*)\.ts'/g, "'delivery-admin-client/$1'");
  expect(read('docs/booking.md')).toContain(`\`\`\`ts\n${program}\`\`\`\n`);
});

describe('An order service that books slots, and crashes', () => {
  const slots = runService('slot');
  const coupons = runService('coupon', undefined, undefined, () => slots.database);
  const { sql } = slots;
  const bookings = createClient(SlotBookingService, slots.staff);
  const redemptions = createClient(RedemptionService, coupons.staff);

  /** What an order service has, a slot with room for one order, and a coupon that each user may use once. */
  async function openShop({ isDeclined = false, hasCoupon = true } = {}) {
    const slotId = await addSlot(sql, { capacity: 1 });
    const coupon = await addCouponOf(sql, { max_limit_for_user: 1 });
    const first: Order = {
      ...{ key: newName('order'), userId: 1, amount: 200, slotId, state: 'new', discount: 0 },
      ...(hasCoupon ? { code: coupon.code } : {}),
    };
    const { shop, step, saved, isCharged, prepare } = crashingShop(first, isDeclined);
    const holds: Holds = {
      bookings: {
        ...bookings,
        book: (...call) => step(() => bookings.book(...call)),
        confirm: (...call) => step(() => bookings.confirm(...call)),
        release: (...call) => step(() => bookings.release(...call)),
      },
      redemptions: {
        ...redemptions,
        redeem: (...call) => step(() => redemptions.redeem(...call)),
        confirm: (...call) => step(() => redemptions.confirm(...call)),
        release: (...call) => step(() => redemptions.release(...call)),
      },
    };
    return {
      slotId,
      saved,
      isCharged,
      /** Runs the program, with changes of the saved order. It crashes after so many half steps. */
      run: (halfSteps = Number.POSITIVE_INFINITY, changed: Partial<Order> = {}) => {
        prepare(halfSteps, changed);
        return takeOrder(saved(), shop, holds);
      },
      /** The states of the order's bookings and redemptions. */
      async states() {
        const of = { orderKey: saved().key };
        return {
          bookings: (await bookings.listBookings(of)).bookings.map(({ state }) => SlotBookingState[state]),
          redemptions: (await redemptions.listRedemptions(of)).redemptions.map(({ state }) => RedemptionState[state]),
        };
      },
      bookByAnother: () => bookings.book({ slotId, orderKey: newName('order') }),
      redeemByAnother: () =>
        redemptions.redeem({ code: coupon.code, userId: 1, orderKey: newName('order'), orderAmount: 200 }),
      endCoupon: () => sql('update coupons set is_invalidated = true where id = $1', [coupon.id]),
      letHoldsRunOut: async () => {
        await letBookingRunOut(sql, saved().bookingId);
        await letRunOut(sql, saved().redemptionId);
      },
    };
  }

  type OpenShop = Awaited<ReturnType<typeof openShop>>;

  const everyHalfStepOf = (halfSteps: number) => Array.from({ length: halfSteps }, (_crash, after) => after);
  const taken = { bookings: ['BOOKED'], redemptions: ['USED'] };
  const released = { bookings: ['RELEASED'], redemptions: ['RELEASED'] };
  /** Of a paid order with a coupon: the program knows that it is paid, and has confirmed nothing. */
  const whenPaid = 12;

  async function expectCanceled(shop: OpenShop): Promise<void> {
    expect(shop.saved().state).toBe('canceled');
    expect(shop.isCharged()).toBe(false);
    expect(await shop.states()).toEqual(released);
  }

  // The counts are all half steps: with one more there is no crash.
  it.each(everyHalfStepOf(18))(
    'It takes the order once, with one booking and one redemption, after a crash at half step %d',
    async (crash) => {
      const shop = await openShop();
      await expect(shop.run(crash)).rejects.toThrow('crashed');
      expect(await shop.run()).toMatchObject({ state: 'taken', discount: 20 });
      expect(shop.isCharged()).toBe(true);
      expect(await shop.states()).toEqual(taken);
    },
  );

  it.each(everyHalfStepOf(14))(
    'It takes an order without a coupon once, after a crash at half step %d',
    async (crash) => {
      const shop = await openShop({ hasCoupon: false });
      await expect(shop.run(crash)).rejects.toThrow('crashed');
      expect(await shop.run()).toMatchObject({ state: 'taken', discount: 0 });
      expect(await shop.states()).toEqual({ bookings: ['BOOKED'], redemptions: [] });
    },
  );

  it.each(everyHalfStepOf(20))(
    'It gives slot and coupon back once when the payment is declined, after a crash at half step %d',
    async (crash) => {
      const shop = await openShop({ isDeclined: true });
      await expect(shop.run(crash)).rejects.toThrow('crashed');
      await shop.run();
      await expectCanceled(shop);
      expect((await shop.bookByAnother()).booked).toBe(true);
      expect((await shop.redeemByAnother()).valid).toBe(true);
    },
  );

  it.each([
    [18, true, false],
    [14, false, false],
    [20, true, true],
  ])('It has %d half steps with a coupon %s and a declined payment %s', async (halfSteps, hasCoupon, isDeclined) => {
    const shop = await openShop({ hasCoupon, isDeclined });
    expect((await shop.run(halfSteps)).state).toBe(isDeclined ? 'canceled' : 'taken');
  });

  it('It takes an order that is paid late, while nobody else has the room or the use', async () => {
    const shop = await openShop();
    await expect(shop.run(whenPaid)).rejects.toThrow('crashed');
    await shop.letHoldsRunOut();
    expect(await shop.run()).toMatchObject({ state: 'taken' });
    expect(await shop.states()).toEqual(taken);
  });

  // Six steps are left: confirm, save, two releases, refund and save; with the second confirmation seven.
  const lateOnes: readonly (readonly [string, number, (shop: OpenShop) => Promise<unknown>])[] = [
    ['another one has the room', 12, (shop) => shop.bookByAnother()],
    ['another one has the use', 14, (shop) => shop.redeemByAnother()],
    ['its slot has closed', 12, (shop) => change(sql, shop.slotId, { freeze_time: '2020-01-01Z' })],
  ];
  const lateCrashes = lateOnes.flatMap(([why, halfSteps, happen]) =>
    everyHalfStepOf(halfSteps).map((crash) => ({ why, crash, happen })),
  );

  it.each(lateCrashes)(
    'It refunds an order that is paid too late, when $why, after a crash at half step $crash',
    async ({ crash, happen }) => {
      const shop = await openShop();
      await expect(shop.run(whenPaid)).rejects.toThrow('crashed');
      await shop.letHoldsRunOut();
      await happen(shop);
      await expect(shop.run(crash)).rejects.toThrow('crashed');
      await shop.run();
      await expectCanceled(shop);
    },
  );

  it('It takes a paid order whose hold is live, although its slot has closed', async () => {
    const shop = await openShop();
    await expect(shop.run(whenPaid)).rejects.toThrow('crashed');
    await change(sql, shop.slotId, { freeze_time: '2020-01-01Z' });
    expect(await shop.run()).toMatchObject({ state: 'taken' });
  });

  it.each([
    ['booking', (order: Order) => bookings.release({ bookingId: order.bookingId })],
    ['redemption', (order: Order) => redemptions.release({ redemptionId: order.redemptionId })],
  ])('It refunds a paid order whose %s staff have released', async (_hold, release) => {
    const shop = await openShop();
    await expect(shop.run(whenPaid)).rejects.toThrow('crashed');
    await release(shop.saved());
    await shop.run();
    await expectCanceled(shop);
  });

  it.each(everyHalfStepOf(4))(
    'It refuses an order whose slot has no room, before it redeems, after a crash at half step %d, and takes it with another slot',
    async (crash) => {
      const shop = await openShop();
      expect((await shop.bookByAnother()).booked).toBe(true);
      await expect(shop.run(crash)).rejects.toThrow('crashed');
      expect(await shop.run()).toMatchObject({ state: 'refused' });
      expect(await shop.states()).toEqual({ bookings: [], redemptions: [] });
      const slotId = await addSlot(sql, { capacity: 1 });
      expect(await shop.run(undefined, { state: 'new', slotId })).toMatchObject({ state: 'taken' });
      expect(await shop.states()).toEqual(taken);
    },
  );

  it.each([{ freeze_time: '2020-01-01Z' }, { is_active: false }, { is_capacity_full: true }])(
    'It takes the slot that an attempt before a crash has held, and that became %j meanwhile',
    async (columns) => {
      const shop = await openShop();
      await expect(shop.run(2)).rejects.toThrow('crashed');
      await change(sql, shop.slotId, columns);
      expect(await shop.run()).toMatchObject({ state: 'taken', discount: 20 });
      expect(await shop.states()).toEqual(taken);
    },
  );

  it('It goes on without a discount when the coupon is refused', async () => {
    const shop = await openShop();
    expect((await shop.redeemByAnother()).valid).toBe(true);
    expect(await shop.run()).toMatchObject({ state: 'taken', discount: 0 });
    expect(await shop.states()).toEqual({ bookings: ['BOOKED'], redemptions: [] });
  });

  it('It uses what an attempt before a crash has held of a coupon that refuses it by now', async () => {
    const shop = await openShop();
    await expect(shop.run(6)).rejects.toThrow('crashed');
    expect(await shop.states()).toEqual({ bookings: ['HELD'], redemptions: ['HELD'] });
    await shop.endCoupon();
    expect(await shop.run()).toMatchObject({ state: 'taken', discount: 20 });
    expect(await shop.states()).toEqual(taken);
  });

  it.each(everyHalfStepOf(8))(
    'It cancels a taken order, gives slot and coupon back and refunds it, after a crash at half step %d',
    async (crash) => {
      const shop = await openShop();
      await shop.run();
      await expect(shop.run(crash, { state: 'canceling' })).rejects.toThrow('crashed');
      await shop.run();
      await expectCanceled(shop);
    },
  );
});
