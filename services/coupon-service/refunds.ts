import { type Queryable, statement } from '../../shared/db/database.ts';
import { fail } from '../../shared/rpc/errors.ts';
import { refundCode } from './codes.ts';
import { type CouponRow, insertCoupon } from './coupon-records.ts';
import { couponErrors } from './errors.ts';

const validForDays = 30;

interface OrderRow {
  userId: number | null;
  name: string | null;
  mobile: string | null;
  totalAmount: string;
}

const orderToRefund = statement<OrderRow>(
  'orderToRefund',
  `select users.id as "userId", users.name, users.mobile, orders.total_amount as "totalAmount"
   from orders left join users on users.id = orders.user_id
   where orders.id = $1`,
);

const setRefundCoupon = statement<never>(
  'setRefundCoupon',
  'update order_statuses set refund_coupon_id = $2 where order_id = $1',
);

/**
 * Spec 4.2, generateCancellationCoupon. Of calls at once for one order the code's unique constraint
 * lets one through.
 *
 * @returns the stored coupon.
 * @throws UNAUTHENTICATED for rule 1, NOT_FOUND for rules 2 and 3, ALREADY_EXISTS for a code that is
 * taken.
 */
export async function generateCancellationCoupon(
  tx: Queryable,
  orderId: number,
  staffId: number | undefined,
): Promise<CouponRow> {
  // 1
  if (staffId === undefined) throw fail(couponErrors.unauthorized);
  // 2
  const [order] = await tx.query(orderToRefund, [orderId]);
  if (order === undefined) throw fail(couponErrors.orderNotFound);
  // 3
  const { userId, totalAmount } = order;
  if (userId === null) throw fail(couponErrors.orderUserNotFound);
  // 4, and the coupon of 5
  const coupon = await insertCoupon(tx, {
    couponCode: refundCode(order, orderId),
    isUserBased: true,
    flatDiscount: totalAmount,
    minOrder: totalAmount,
    maxValue: totalAmount,
    validForDays,
    maxLimitForUser: 1,
    isApplyForAll: false,
    createdBy: staffId,
    applicableUsers: [userId],
  });
  if (coupon === undefined) throw fail(couponErrors.couponCodeTaken);
  // 5
  await tx.query(setRefundCoupon, [orderId, coupon.id]);
  return coupon;
}
