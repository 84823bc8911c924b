import { expect, onTestFinished } from 'vitest';
import { createGrpcClient, type GrpcClient } from '../../services/client/client.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import {
  connectCaller,
  couponCaller,
  grpcCaller,
  judged,
  RollingLoad,
  retryingCut,
  underLoad,
} from '../load/rolling-load.ts';
import { eventually } from '../support/eventually.ts';
import { openSlot } from '../support/slot-writes.ts';
import { published, Stack } from './stack.ts';

export const services = ['slot-service', 'coupon-service'] as const;

/** docker-compose.yml with one slot that has one product, for clients and for loads. */
export class LoadedStack {
  readonly stack: Stack;
  readonly slotId: number;

  private constructor(stack: Stack, slotId: number) {
    this.stack = stack;
    this.slotId = slotId;
  }

  static async up(folder?: string): Promise<LoadedStack> {
    const stack = await Stack.up(folder);
    await stack.sql(`insert into products (id, name, images) values (1, 'Milk', '{}')`);
    const slots = clientOf(SlotService, 'slot', stack.token);
    const { slot } = await slots.createSlot(openSlot([1]));
    slots.close();
    return new LoadedStack(stack, slot?.id ?? 0);
  }

  /** The client that the documentation gives to other services, at the published port. It is closed with the test. */
  slots(): GrpcClient<typeof SlotService> {
    const slots = clientOf(SlotService, 'slot', this.stack.token);
    onTestFinished(() => slots.close());
    return slots;
  }

  /** Does the work under load. Resolves with the calls that failed, and the names of the writes that were acknowledged. */
  async workUnderLoad(name: string, work: (loads: readonly RollingLoad[]) => Promise<void>) {
    const loads = this.#startLoads(name);
    try {
      await underLoad(loads);
      await work(loads);
    } finally {
      await Promise.all(loads.map((load) => load.stop()));
    }
    const sum = (count: (load: RollingLoad) => number) => loads.reduce((total, load) => total + count(load), 0);
    const failures = loads.flatMap((load) => load.failures);
    console.log(
      `${name}: ${sum(({ done }) => done)} calls, ${sum(({ retries }) => retries)} made again, ${failures.length} failed`,
    );
    return { failures, acknowledged: loads.flatMap((load) => load.acknowledged) };
  }

  /** The names of what the writes of a load have left. */
  writtenBy(name: string): Promise<string[]> {
    return this.stack.sql(
      `select snippet_code from vendor_snippets where snippet_code like '${name}-%'
       union all select coupon_code from coupons where coupon_code like '${name}-%'`,
    );
  }

  /** Waits until the stores of each replica show the slot of each snippet. */
  async expectStoresToHave(name: string): Promise<void> {
    const ids = await this.stack.sql(`select slot_id from vendor_snippets where snippet_code like '${name}-%'`);
    for (const replica of await this.stack.containersOf('slot-service')) {
      await eventually(async () => {
        const shown = new Set(await this.stack.openSlotIds(replica));
        expect(ids.map(Number).filter((id) => !shown.has(id))).toEqual([]);
      }, 120_000);
    }
  }

  /** Clients of both services that retry what is unavailable or was cut. Their writes have names that begin so. */
  #startLoads(name: string): RollingLoad[] {
    const { token } = this.stack;
    const slots = this.slots();
    const coupons = clientOf(CouponService, 'coupon', token);
    onTestFinished(() => coupons.close());
    const read = () => judged(slots.getSlotById({ id: this.slotId }));
    const overGrpc = { ...grpcCaller(slots, this.slotId), read };
    return [
      new RollingLoad(`${name}-grpc`, retryingCut('nginx', overGrpc)),
      new RollingLoad(`${name}-connect`, connectCaller([published.slot.webPort], token, this.slotId)),
      new RollingLoad(`${name}-coupons`, retryingCut('nginx', couponCaller(coupons))),
    ];
  }
}

function clientOf<Service extends typeof SlotService | typeof CouponService>(
  service: Service,
  name: 'slot' | 'coupon',
  token: string,
): GrpcClient<Service> {
  return createGrpcClient(service, { addresses: [`localhost:${published[name].grpcPort}`], token });
}
