import type { Client } from '@connectrpc/connect';
import { createKey, isTransient, Reason, reasonOf, violationsOf } from 'delivery-admin-client';
import type { CouponService } from 'delivery-admin-client/coupon/v1/coupon_service_pb';
import { type SlotBookingService, SlotBookingState } from 'delivery-admin-client/slot/v1/slot_booking_service_pb';
import type { SlotService } from 'delivery-admin-client/slot/v1/slot_service_pb';
import type { SlotStoreService } from 'delivery-admin-client/slot/v1/slot_store_service_pb';

/** Clients of the services, over whichever protocol. */
export interface Clients {
  readonly slots: Client<typeof SlotService>;
  readonly bookings: Client<typeof SlotBookingService>;
  readonly stores: Client<typeof SlotStoreService>;
  readonly coupons: Client<typeof CouponService>;
}

/** What a program sees of its calls. */
export interface Outcome {
  readonly slots: number;
  /** The units of a slot that are left before and after one is booked. */
  readonly remaining: readonly (number | undefined)[];
  /** The states of its booking. */
  readonly states: readonly string[];
  readonly replayed: readonly boolean[];
  readonly sameCoupon: boolean;
  readonly reason: keyof typeof Reason | 'another';
  readonly isTransient: boolean;
  readonly fields: readonly string[];
  readonly versions: number;
}

/** Reads, writes twice with one key, books a slot and gives it back, fails in two ways, and reads a stream. */
export async function makeCalls({ slots, bookings, stores, coupons }: Clients): Promise<Outcome> {
  const { count } = await slots.getSlots({}, { timeoutMs: 20_000 });
  const booked = await bookSlot(slots, bookings);

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
    ...booked,
    replayed,
    sameCoupon: first.coupon?.id === second.coupon?.id && first.coupon?.discountPercent === '10',
    reason: reasonOf(failure) === Reason.SLOT_NOT_FOUND ? Reason.SLOT_NOT_FOUND : 'another',
    isTransient: isTransient(failure),
    fields: violations.map(({ field }) => field),
    versions,
  };
}

/** Holds a unit of a new slot, confirms it and gives it back. Then the slot is deleted. */
async function bookSlot({ createSlot, deleteSlot }: Clients['slots'], bookings: Clients['bookings']) {
  const times = { deliveryTime: '2090-05-01T10:00:00Z', freezeTime: '2090-05-01T06:30:00Z' };
  const slotId = (await createSlot({ ...times, capacity: 2 })).slot?.id ?? 0;
  const [available] = (await bookings.getAvailability({ slotIds: [slotId] })).slots;
  const held = await bookings.book({ slotId, orderKey: createKey() });
  const bookingId = held.booking?.id ?? 0;
  const paid = await bookings.confirm({ bookingId });
  const canceled = await bookings.release({ bookingId });
  await deleteSlot({ id: slotId });
  return {
    remaining: [available?.remaining, held.remaining],
    states: [held, paid, canceled].map(({ booking }) => SlotBookingState[booking?.state ?? 0] ?? ''),
  };
}
