import type { Client } from '@connectrpc/connect';
import { createKey, isTransient, Reason, reasonOf, violationsOf } from 'delivery-admin-client';
import type { CouponService } from 'delivery-admin-client/coupon/v1/coupon_service_pb';
import type { SlotService } from 'delivery-admin-client/slot/v1/slot_service_pb';
import type { SlotStoreService } from 'delivery-admin-client/slot/v1/slot_store_service_pb';

/** Clients of the services, over whichever protocol. */
export interface Clients {
  readonly slots: Client<typeof SlotService>;
  readonly stores: Client<typeof SlotStoreService>;
  readonly coupons: Client<typeof CouponService>;
}

/** What a program sees of its calls. */
export interface Outcome {
  readonly slots: number;
  readonly replayed: readonly boolean[];
  readonly sameCoupon: boolean;
  readonly reason: keyof typeof Reason | 'another';
  readonly isTransient: boolean;
  readonly fields: readonly string[];
  readonly versions: number;
}

/** Reads, writes twice with one key, fails in two ways, and reads a stream. */
export async function makeCalls({ slots, stores, coupons }: Clients): Promise<Outcome> {
  const { count } = await slots.getSlots({}, { timeoutMs: 20_000 });

  const replayed: boolean[] = [];
  const options = {
    headers: { 'idempotency-key': createKey() },
    onHeader: (received: Headers) => void replayed.push(received.has('idempotent-replayed')),
  };
  const request = { coupon: { discountPercent: 10, isApplyForAll: true } };
  const [first, second] = [await coupons.create(request, options), await coupons.create(request, options)];

  const failure: unknown = await slots.getSlotById({ id: 4711 }).catch((error: unknown) => error);
  const violations = await coupons.getUsersMiniInfo({ limit: 51 }).then(() => [], violationsOf);

  let versions = 0;
  for await (const { version } of stores.watchStore({})) {
    versions += version > 0 ? 1 : 0;
    break;
  }
  return {
    slots: count,
    replayed,
    sameCoupon: first.coupon?.id === second.coupon?.id && first.coupon?.discountPercent === '10',
    reason: reasonOf(failure) === Reason.SLOT_NOT_FOUND ? Reason.SLOT_NOT_FOUND : 'another',
    isTransient: isTransient(failure),
    fields: violations.map(({ field }) => field),
    versions,
  };
}
