import { type Queryable, statement } from '../../shared/db/database.ts';
import { databaseErrors, violates } from '../../shared/db/errors.ts';
import { fail } from '../../shared/errors/errors.ts';
import { refundCode } from './codes.ts';
import { type CouponRow, couponColumns } from './coupon-records.ts';
import { couponErrors } from './errors.ts';

const validForDays = 30;
// An order or its user changes between two round trips once in a great while, not again and again.
const maxAttempts = 3;

interface OrderRow {
  userId: number | null;
  name: string | null;
  mobile: string | null;
}

const orderToRefund = statement<OrderRow>(
  'orderToRefund',
  `select users.id as "userId", users.name, users.mobile
   from orders left join users on users.id = orders.user_id
   where orders.id = $1`,
);

// The order and its user as the code was made of them; locked, so that neither goes meanwhile.
const issueRefund = statement<{ isCurrent: boolean } & (CouponRow | { id: null })>(
  'issueRefund',
  `with refunded as (
     select users.id as user_id, orders.total_amount
     from orders join users on users.id = orders.user_id
     where orders.id = $1 and users.id = $2 and users.name is not distinct from $3 and users.mobile = $4
     for key share
   ),
   written as (
     insert into coupons (
       coupon_code, created_by, is_user_based, flat_discount, min_order, max_value, max_limit_for_user, valid_till
     )
     select $5, $6, true, total_amount, total_amount, total_amount, 1, now() + $7 * interval '24 hours'
     from refunded
     on conflict (coupon_code) do nothing
     returning *
   ),
   linked as (
     insert into coupon_applicable_users (coupon_id, user_id)
     select written.id, refunded.user_id from written, refunded
   ),
   statuses as (update order_statuses set refund_coupon_id = written.id from written where order_id = $1)
   select exists (select from refunded) as "isCurrent", ${couponColumns}
   from (values (1)) as one left join written as coupons on true`,
);

/**
 * Spec 4.2, generateCancellationCoupon. A read, because characters are counted here, and one
 * statement that writes only while what was read still holds. Of calls at once for one order the
 * code's unique constraint lets one through.
 *
 * @returns the stored coupon.
 * @throws UNAUTHENTICATED for rule 1, NOT_FOUND for rules 2 and 3, ALREADY_EXISTS for a code that is
 * taken, ABORTED when the order or its user never stops changing.
 */
export async function generateCancellationCoupon(
  db: Queryable,
  orderId: number,
  staffId: number | undefined,
): Promise<CouponRow> {
  // 1
  if (staffId === undefined) throw fail(couponErrors.unauthorized);
  for (let read = 1; read <= maxAttempts; read += 1) {
    // 2
    const [order] = await db.query(orderToRefund, [orderId]);
    if (order === undefined) throw fail(couponErrors.orderNotFound);
    // 3
    const { userId, name, mobile } = order;
    if (userId === null) throw fail(couponErrors.orderUserNotFound);
    // 4 and 5
    const values = [orderId, userId, name, mobile, refundCode(order, orderId), staffId, validForDays];
    const [coupon] = await db.query(issueRefund, values).catch((error: unknown) => {
      // The staff user was there a moment ago.
      throw violates(error, 'couponCreator') ? fail(couponErrors.unauthorized) : error;
    });
    if (coupon?.isCurrent) {
      if (coupon.id === null) throw fail(couponErrors.couponCodeTaken);
      return coupon;
    }
  }
  throw fail(databaseErrors.conflict);
}
