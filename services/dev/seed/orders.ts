import { hoursFrom, steps } from './deterministic.ts';
import { userOfOrder } from './slots.ts';

const orderCount = 300;

/** Returns the orders of the last weeks. A few came by phone and have no user. */
export function makeOrders(now: Date) {
  return steps(orderCount).map((index) => ({
    id: index + 1,
    user_id: index < 100 && index % 25 === 24 ? null : userOfOrder(index + 1),
    total_amount: `${180 + ((index * 157) % 2_900)}.${String((index * 35) % 100).padStart(2, '0')}`,
    created_at: hoursFrom(now, (index - orderCount) * 3),
  }));
}

/** Returns a status for each order. The older ones are delivered or canceled. */
export function makeOrderStatuses(refunds: ReadonlyMap<number, number>) {
  return steps(orderCount).map((index) => {
    const isCancelled = isCancelledOrder(index + 1);
    return {
      id: index + 1,
      order_id: index + 1,
      is_cancelled: isCancelled,
      is_delivered: !isCancelled && index < 240,
      refund_coupon_id: refunds.get(index + 1) ?? null,
    };
  });
}

/** Whether the order was canceled. */
export function isCancelledOrder(order: number): boolean {
  return order % 14 === 9;
}
