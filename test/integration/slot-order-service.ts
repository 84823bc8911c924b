import type { Client } from '@connectrpc/connect';
import { Reason, reasonOf } from '../../services/client/package/index.ts';
import type { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import type { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';

/** An order, as the order service keeps it in its own database. */
export interface Order {
  readonly key: string;
  readonly userId: number;
  readonly amount: number;
  readonly slotId: number;
  /** Of its coupon, if it has one. */
  readonly code?: string;
  /** A refused one may be taken again as new, with another slot. */
  readonly state: 'new' | 'refused' | 'booked' | 'held' | 'paid' | 'taken' | 'canceling' | 'canceled';
  /** What the coupon saves. Without a redemption, nothing. */
  readonly discount: number;
  readonly bookingId?: number | undefined;
  readonly redemptionId?: number | undefined;
}

/** The order service's own parts. To charge an order again changes nothing, nor to refund one that is not charged. */
export interface Shop {
  save(order: Order): Promise<void>;
  charge(order: Order): Promise<'paid' | 'declined'>;
  refund(order: Order): Promise<void>;
}

/** Clients of both services. */
export interface Holds {
  readonly bookings: Client<typeof SlotBookingService>;
  readonly redemptions: Client<typeof RedemptionService>;
}

// The order is paid too late, when others have the room or the use already, or staff have released its hold.
const lost: readonly string[] = [Reason.HOLD_EXPIRED, Reason.BOOKING_RELEASED, Reason.REDEMPTION_RELEASED];

/** Whether a hold is confirmed, and not lost. */
const isConfirmed = (confirming: Promise<unknown>) =>
  confirming.then(
    () => true,
    (error) => {
      if (lost.includes(reasonOf(error))) return false;
      throw error;
    },
  );

/** Takes an order. When it fails at any point, call it again with the order as it was saved last. */
export async function takeOrder(saved: Order, shop: Shop, { bookings, redemptions }: Holds): Promise<Order> {
  let order = saved;
  const save = async (changed: Partial<Order>) => {
    order = { ...order, ...changed };
    await shop.save(order);
  };
  const { key: orderKey, userId, amount: orderAmount, slotId, code } = order;
  if (order.state === 'new') {
    const { booking } = await bookings.book({ slotId, orderKey, userId });
    await save({ state: booking === undefined ? 'refused' : 'booked', bookingId: booking?.id });
  }
  if (order.state === 'booked') {
    // A refusal, too, tells what the order holds: an attempt before a crash may have left it.
    const { redemption } = code === undefined ? {} : await redemptions.redeem({ code, userId, orderKey, orderAmount });
    await save({ state: 'held', discount: Number(redemption?.discountAmount ?? 0), redemptionId: redemption?.id });
  }
  if (order.state === 'held') await save({ state: (await shop.charge(order)) === 'paid' ? 'paid' : 'canceling' });
  const { bookingId, redemptionId } = order;
  if (order.state === 'paid') {
    const isTaken =
      (bookingId === undefined || (await isConfirmed(bookings.confirm({ bookingId })))) &&
      (redemptionId === undefined || (await isConfirmed(redemptions.confirm({ redemptionId }))));
    await save({ state: isTaken ? 'taken' : 'canceling' });
  }
  if (order.state === 'canceling') {
    const reason = 'order canceled';
    if (bookingId !== undefined) await bookings.release({ bookingId, reason });
    if (redemptionId !== undefined) await redemptions.release({ redemptionId, reason });
    await shop.refund(order);
    await save({ state: 'canceled' });
  }
  return order;
}
