import { hoursFrom } from './deterministic.ts';
import { isCancelledOrder, type makeOrders } from './orders.ts';
import type { makeUsers } from './people.ts';

interface FirstIds {
  readonly coupon: number;
  readonly link: number;
}

const refundCount = 8;

/**
 * Returns refund coupons of canceled orders, with the values of GenerateCancellationCoupon (spec 4.2), their links to
 * users, and the coupon id by order id.
 *
 * @param first the first free ids.
 */
export function makeRefunds(
  orders: ReturnType<typeof makeOrders>,
  users: ReturnType<typeof makeUsers>,
  first: FirstIds,
  now: Date,
) {
  const refunded = orders
    .filter((order) => isCancelledOrder(order.id))
    .flatMap((order) => users.filter((user) => user.id === order.user_id).map((user) => ({ order, user })))
    .slice(-refundCount);
  const coupons = refunded.map(({ order, user }, index) => ({
    id: first.coupon + index,
    coupon_code: `${(user.name ?? user.mobile).slice(0, 3).toUpperCase()}${order.id}`,
    is_user_based: true,
    discount_percent: null,
    flat_discount: order.total_amount,
    min_order: order.total_amount,
    max_value: order.total_amount,
    product_ids: null,
    is_apply_for_all: false,
    valid_till: hoursFrom(now, 30 * 24),
    max_limit_for_user: 1,
    exclusive_apply: false,
    is_invalidated: false,
    created_by: (index % 3) + 1,
    created_at: hoursFrom(now, -0.25 - (refunded.length - index) * 0.01),
  }));
  return {
    coupons,
    links: refunded.map(({ user }, index) => ({
      id: first.link + index,
      coupon_id: first.coupon + index,
      user_id: user.id,
    })),
    couponOfOrder: new Map(refunded.map(({ order }, index) => [order.id, first.coupon + index])),
  };
}
