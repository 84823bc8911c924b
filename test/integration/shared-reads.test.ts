import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fromJsonString } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import type { ServiceConfig } from '../../shared/config/config.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import {
  type GetSlotByIdResponse,
  GetSlotsResponseSchema,
  SlotService,
} from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { holding, lockSlots } from '../support/locks.ts';
import { viaPort } from '../support/proxy.ts';
import { type Relay, startRelay } from '../support/relay.ts';
import { runService } from '../support/running-service.ts';
import { scrape } from '../support/scrape.ts';
import { bearer } from '../support/tokens.ts';

const callers = 64;
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

/** Passes answers on after 0 to 40 ms, so that writes are answered while statements that began before are under way. */
function joinUnevenly(near: Socket, far: Socket): void {
  near.pipe(far);
  let passed = Promise.resolve();
  far.on('data', (chunk: Buffer) => {
    passed = passed.then(() => pause(Math.random() * 40)).then(() => void near.write(chunk));
  });
}

let relay: Relay;
beforeAll(async () => {
  relay = await startRelay(Number(new URL(inject('postgresUrl')).port), joinUnevenly);
  return () => relay.cut();
});

/** Reads that share statements, over gRPC. */
describe('Reads that share statements', () => {
  const byRelay = ({ database }: ServiceConfig) => ({
    database: { ...database, url: viaPort(database.url, relay.port) },
  });
  const [slotService, couponService] = [runService('slot', byRelay), runService('coupon', byRelay)];
  const slots = createClient(SlotService, slotService.staff);
  const coupons = createClient(CouponService, couponService.staff);

  beforeAll(async () => {
    await slotService.sql(`insert into slots (id, delivery_time, freeze_time)
      select n, '2030-05-01T10:00Z', '2030-05-01T06:00Z' from generate_series(1, ${callers}) n`);
    await couponService.sql(`insert into coupons (id, coupon_code, flat_discount, is_apply_for_all, created_by)
      select n, 'CODE' || n, 1, true, 1 from generate_series(1, ${callers}) n`);
  });

  /** Lets 64 callers write and read at once: each the records of all, several times. */
  async function writeAndRead(
    write: (id: number, round: number) => Promise<unknown>,
    read: (id: number) => Promise<number>,
  ): Promise<void> {
    const answered = new Map<number, number>();
    const call = async (id: number) => {
      for (let round = 1; round <= 4; round += 1) {
        await write(id, round);
        answered.set(id, round);
        const other = (id * 7 + round) % callers || callers;
        for (const asked of [id, other]) {
          const before = answered.get(asked) ?? 0;
          expect(await read(asked), `what a read of ${asked} saw`).toBeGreaterThanOrEqual(before);
        }
      }
    };
    await Promise.all(numbers(callers).map(call));
  }

  const writeProducts = (slotId: number, round: number) =>
    slots.updateSlotProducts({ slotId, productIds: numbers(round) });
  const writeTime = (id: number, round: number) => {
    const deliveryTime = `2030-05-01T0${round}:00Z`;
    return slots.updateSlot({ id, deliveryTime, freezeTime: deliveryTime });
  };
  const writeCoupon = (id: number, round: number) =>
    coupons.update({ id, updates: { coupon: { flatDiscount: round, maxLimitForUser: round } } });

  /** Each read gives the round that was written. */
  it.each<
    [string, write: (id: number, round: number) => Promise<unknown>, read: (id: number) => Promise<number | undefined>]
  >([
    ['GetSlotById', writeProducts, async (id) => (await slots.getSlotById({ id })).slot?.productSlots.length],
    [
      'GetSlotsProductIds',
      writeProducts,
      async (id) => (await slots.getSlotsProductIds({ slotIds: [id] })).productIds[id]?.ids.length,
    ],
    [
      'GetAll',
      writeProducts,
      async (id) => (await slots.getAll({})).slots.find((slot) => slot.id === id)?.productSlots.length,
    ],
    [
      'GetSlots',
      writeTime,
      async (id) => {
        const { slots: listed } = await slots.getSlots({});
        return (Number(listed.find((slot) => slot.id === id)?.deliveryTime?.seconds ?? 0) % 86_400) / 3_600;
      },
    ],
    [
      'Validate',
      writeCoupon,
      async (id) => (await coupons.validate({ code: `CODE${id}`, orderAmount: 99 })).discountAmount,
    ],
    ['GetById', writeCoupon, async (id) => (await coupons.getById({ id })).coupon?.maxLimitForUser],
    [
      'the first page of coupons',
      writeCoupon,
      async (id) => {
        const listed = (await coupons.getAll({})).coupons.find((coupon) => coupon.id === id);
        return listed === undefined ? Number.POSITIVE_INFINITY : listed.maxLimitForUser;
      },
    ],
  ])(
    'A call to %s that begins after a write was answered sees it, with 64 readers and writers at once',
    async (_call, write, read) => {
      await slotService.sql(`truncate product_slots; update slots set delivery_time = '2030-05-01T00:00Z'`);
      await couponService.sql('update coupons set flat_discount = 1, max_limit_for_user = null');
      await writeAndRead(write, async (id) => (await read(id)) ?? 0);
    },
  );

  it('Calls in both forms that wait for a list share one statement, and each gets the list in its form', async () => {
    const asJson = async () => {
      const response = await fetch(`http://127.0.0.1:${slotService.webPort}/slot.v1.SlotService/GetSlots`, {
        method: 'POST',
        headers: { ...(await bearer({ staffId: 1 })), 'content-type': 'application/json' },
        body: '{}',
      });
      return fromJsonString(GetSlotsResponseSchema, await response.text());
    };
    const asBinary = () => slots.getSlots({});
    await holding(slotService.database.url, lockSlots, async (lock) => {
      const first = asBinary();
      await lock.untilAwaited();
      const waiting = [asBinary(), asJson(), asBinary(), asJson()];
      const inProgress = async (protocol: string) => {
        const series = `rpc_server_in_progress{service="slot.v1.SlotService",method="GetSlots",protocol="${protocol}"}`;
        return (await scrape(slotService.metricsPort)).value(series);
      };
      await expect.poll(() => inProgress('grpc')).toBe(3);
      await expect.poll(() => inProgress('connect')).toBe(2);
      expect(await lock.waiting()).toBe(1);
      await lock.release();
      const list = await first;
      expect(list.count).toBe(callers);
      for (const shared of waiting) expect(await shared).toEqual(list);
    });
  });

  it('A batch with a bad key, a canceled caller and a late deadline gives every other caller its answer', async () => {
    const outcome = async (call: Promise<GetSlotByIdResponse>) =>
      call.then(
        ({ slot }) => slot?.id,
        (error: unknown) => ConnectError.from(error).code,
      );
    const canceled = new AbortController();
    await holding(slotService.database.url, lockSlots, async (lock) => {
      const read = (id: number, options = {}) => outcome(slots.getSlotById({ id }, options));
      // Until no further statement goes out: the other reads wait for their batch.
      const first: Promise<unknown>[] = [];
      for (let running = 1; running <= 3; running += 1) {
        first.push(read(running));
        await lock.untilAwaited(running);
      }
      const bad = read(-1);
      const leaving = read(4, { signal: canceled.signal });
      const late = read(5, { timeoutMs: 300 });
      const others = numbers(20).map((id) => read(id));
      expect(await late).toBe(Code.DeadlineExceeded);
      canceled.abort();
      expect(await leaving).toBe(Code.Canceled);
      expect(await lock.waiting()).toBe(3);
      await lock.release();
      expect(await bad).toBe(Code.NotFound);
      expect(await Promise.all(others)).toEqual(numbers(20));
      expect(await Promise.all(first)).toEqual([1, 2, 3]);
    });
  });
});
