import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { Code, createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { CouponBatchService } from '../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { RetryInfoSchema } from '../../shared/gen/google/rpc/error_details_pb.ts';
import { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { expectError, failureOf } from '../support/contract.ts';
import { holding } from '../support/locks.ts';
import { runService } from '../support/running-service.ts';
import { openSlot } from '../support/slot-writes.ts';

const refused = 'Too much was stored in this hour - please try again later';
const mib = 1024 ** 2;

/** Calls until the quota is used up. */
async function untilRefused(call: (count: number) => Promise<unknown>): Promise<void> {
  for (let count = 0; ; count += 1) {
    const error = await call(count).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error === undefined) continue;
    expect(String(error)).toContain(refused);
    return;
  }
}

describe.each(['slot', 'coupon'] as const)('What a caller of %s-service stores in an hour', (name) => {
  const quotaMib = 4;
  const service = runService(name, () => ({ storedMibPerHour: quotaMib }));
  const ids = (count: number) => (turn: number) =>
    Array.from({ length: count }, (_, n) => n + 1_000_000 * (1 + (turn % 2)));
  const staff = { staffId: 1, subject: 'writes-without-end' };

  async function growthOf(work: () => Promise<void>): Promise<number> {
    const size = async () => {
      const [row] = await service.sql<{ size: number }>('select pg_database_size(current_database())::float8 as size');
      return row?.size ?? Number.NaN;
    };
    const before = await size();
    await work();
    return ((await size()) - before) / mib;
  }

  const writes: Record<string, () => Promise<(turn: number) => Promise<unknown>>> =
    name === 'slot'
      ? {
          'UpdateSlotProducts of 20,000 ids': async () => {
            const slots = createClient(SlotService, service.as({ ...staff, subject: 'products' }));
            const idsOf = ids(20_000);
            return (turn) => slots.updateSlotProducts({ slotId: 1, productIds: idsOf(turn) });
          },
          'UpdateSlots of 500 slots': async () => {
            await service.sql(
              `insert into slots (id, delivery_time, freeze_time)
               select id, now() + interval '9 days', now() + interval '8 days' from generate_series(5001, 5500) id`,
            );
            const plan = createClient(SlotPlanService, service.as({ ...staff, subject: 'flags' }));
            const slots = Array.from({ length: 500 }, (_, n) => ({ id: n + 5_001 }));
            return (turn) => plan.updateSlots({ slots, change: { case: 'isCapacityFull', value: turn % 2 === 0 } });
          },
        }
      : {
          'Update of 20,000 product ids': async () => {
            const coupons = createClient(CouponService, service.as({ ...staff, subject: 'ids' }));
            const { coupon } = await coupons.create({ coupon: { flatDiscount: 5 } });
            const idsOf = ids(20_000);
            const updates = (turn: number) => ({ coupon: { productIds: { ids: idsOf(turn) } } });
            return (turn) => coupons.update({ id: coupon?.id, updates: updates(turn) });
          },
        };

  it.each(Object.keys(writes))('%s grows the database by about the quota, until it is refused', async (kind) => {
    const write = await writes[kind]?.();
    if (write === undefined) throw new Error(`there is no ${kind}`);
    const growth = await growthOf(() => untilRefused(write));
    expect(growth).toBeLessThan(2 * quotaMib);
    expect(growth).toBeGreaterThan(quotaMib / 4);
  });
});

describe.each(['slot', 'coupon'] as const)('The storage quota of %s-service', (name) => {
  const service = runService(name, () => ({ storedMibPerHour: 1 }));
  beforeAll(() =>
    service.sql(
      `insert into products (id, name) select id, 'p' from generate_series(1001, 5000) id;
       insert into users (id, mobile) select id, id::text from generate_series(1001, 5000) id`,
    ),
  );

  let callers = 0;
  /** A caller that has written nothing yet. */
  const newCaller = () => service.as({ staffId: 1, subject: `caller-${++callers}` });

  if (name === 'slot') {
    const large = { ...openSlot(), productIds: Array.from({ length: 1_800 }, (_, n) => n + 100_000) };
    // An id is one row, and three bytes of the request.
    const largeBytes = (128 + 3) * 1_800;

    it('A caller that has written as much as an hour may have is refused, for its mutations only', async () => {
      const slots = createClient(SlotService, newCaller());
      for (let sent = 0; sent < mib; sent += largeBytes) await slots.createSlot(large);
      const error = await failureOf(slots.createSlot(openSlot()));
      expect([Code[error.code], error.rawMessage]).toEqual(['ResourceExhausted', refused]);
      const [retry] = error.findDetails(RetryInfoSchema);
      expect(Number(retry?.retryDelay?.seconds)).toBeLessThanOrEqual(3_600);
      expect((await slots.getSlots({})).count).toBeGreaterThan(1);
      const others = createClient(SlotService, newCaller());
      expect((await others.createSlot(openSlot())).slot?.id).toBeGreaterThan(0);
    });

    it('A small write is charged 1 KiB', async () => {
      const slots = createClient(SlotService, newCaller());
      const almostAll = Array.from({ length: 7_200 }, (_, n) => n + 100_000);
      const { slot } = await slots.createSlot({ ...openSlot(), productIds: almostAll });
      const left = (mib - (128 + 3) * almostAll.length) / 1024;
      const update = () => slots.updateSlotCapacity({ slotId: slot?.id, isCapacityFull: true });
      const outcomes = await Promise.allSettled(Array.from({ length: 200 }, update));
      const succeeded = outcomes.filter(({ status }) => status === 'fulfilled').length;
      expect(succeeded).toBeGreaterThan(0.9 * left);
      // Time gives some of it back meanwhile.
      expect(succeeded).toBeLessThan(1.5 * left);
    });

    it('A booking that is refused, a call that fails and a stored answer are charged their requests only', async () => {
      const transport = newCaller();
      const [slots, bookings] = [createClient(SlotService, transport), createClient(SlotBookingService, transport)];
      const almostAll = Array.from({ length: 7_200 }, (_, n) => n + 100_000);
      const { slot } = await slots.createSlot({ ...openSlot(), productIds: almostAll });
      const slotId = slot?.id;
      await slots.updateSlotCapacity({ slotId, isCapacityFull: true });
      const keyed = { headers: { 'idempotency-key': 'once' } };
      for (let turn = 0; turn < 60; turn += 1) {
        expect((await bookings.book({ slotId, orderKey: 'full' })).booked).toBe(false);
        await expect(slots.updateSlotCapacity({ slotId: 999_999, isCapacityFull: true })).rejects.toThrow(/not found/i);
        await slots.updateSlotCapacity({ slotId, isCapacityFull: true }, keyed);
      }
    });

    it('A write that is given up, or fails, is charged for its rows like one that succeeds', async () => {
      const slots = createClient(SlotService, newCaller());
      const update = { id: 1, ...openSlot(), productIds: { ids: large.productIds } };
      await slots.createSlot(openSlot());
      await holding(service.database.url, 'lock table product_slots in exclusive mode', async () => {
        for (let sent = 0; sent < mib / 2; sent += largeBytes) {
          await expect(slots.createSlot(large, { timeoutMs: 300 })).rejects.toThrow();
        }
      });
      for (let sent = 0; sent < mib / 3; sent += largeBytes) {
        await expect(slots.updateSlot({ ...update, id: 999_999 })).rejects.toThrow('Unable to Update Slot');
      }
      expect((await failureOf(slots.createSlot(openSlot()))).rawMessage).toBe(refused);
    });

    it('A delivery sequence is charged with all that it holds, at any depth', async () => {
      const slots = createClient(SlotService, newCaller());
      const { slot } = await slots.createSlot(openSlot());
      const saveSequences = async () => {
        for (let turn = 0; turn < 30; turn += 1) {
          const sequence = { 1: { stops: Array.from({ length: 10_000 }, (_, n) => n + turn) } };
          await slots.updateDeliverySequence({ id: slot?.id, deliverySequence: fromJson(ValueSchema, sequence) });
        }
      };
      expect((await failureOf(saveSequences())).rawMessage).toBe(refused);
    });

    it('Copies are charged with the rows that they would make, before they are made', async () => {
      const transport = newCaller();
      const [slots, plan] = [createClient(SlotService, transport), createClient(SlotPlanService, transport)];
      const productIds = Array.from({ length: 1_000 }, (_, n) => n + 1);
      const { slot } = await slots.createSlot({ ...openSlot(), productIds });
      const copy = (shiftDays: number) => plan.copySlots({ slotIds: [slot?.id ?? 0], shiftDays, repeat: 9 });
      // 9 copies with 1,001 rows of 128 bytes are 1.1 MiB.
      expect((await copy(1)).created).toBe(9);
      expect((await failureOf(copy(30))).rawMessage).toBe(refused);
    });
    return;
  }

  it('A batch is charged with the coupons and links that it would make, whatever becomes of it', async () => {
    const batches = createClient(CouponBatchService, newCaller());
    const applicableUsers = { ids: [...Array.from({ length: 8 }, (_, n) => 1001 + n), 999_999] };
    // 1,000 coupons with 9 links each are 1.2 MiB.
    const create = () => batches.createBatch({ count: 1_000, coupon: { flatDiscount: 5, applicableUsers } });
    await expect(create()).rejects.toThrow('Some applicable users not found');
    expect((await failureOf(create())).rawMessage).toBe(refused);
  });

  it('A claim is charged with the links that it would make', async () => {
    const redemptions = createClient(RedemptionService, newCaller());
    await service.sql(
      `insert into reserved_coupons (id, secret_code, coupon_code, flat_discount, created_by)
         select id, 'LINKS' || id, 'LINKS' || id, 5, 1 from generate_series(1, 4) id;
       insert into reserved_coupon_applicable_products (reserved_coupon_id, product_id)
         select r, p from generate_series(1, 4) r, generate_series(1001, 5000) p`,
    );
    const claim = (id: number) => redemptions.claim({ secretCode: `LINKS${id}`, userId: 1 });
    // 4,000 links are 0.5 MiB.
    for (const id of [1, 2, 3]) await claim(id);
    await expectError(claim(4), { code: 'ResourceExhausted', message: refused, reason: 'STORAGE_QUOTA' });
  });
});
