import { type Actor, actorOf, createdEntry } from '../../../shared/audit/entry.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { fail, invalidField } from '../../../shared/errors/errors.ts';
import type {
  CouponService,
  GenerateCancellationCouponRequest,
} from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { ifNewKey } from '../../../shared/rpc/idempotency/key.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { firstCharacters } from '../coupons/codes.ts';
import { type CouponRow, couponColumns, couponFields, toCoupon } from '../coupons/coupon.ts';
import { isCodeFree, isStaff } from '../coupons/coupon-writes.ts';
import { couponErrors } from '../errors.ts';
import type { CouponParts } from '../parts.ts';

const validForDays = 30;

/**
 * Spec 4.2, generateCancellationCoupon. The order and its user are read first, because rule 4 cuts the name by
 * graphemes, which SQL can't do. One statement then writes (5), only if rule 1 holds, the code is free and the order
 * and its user are unchanged.
 *
 * Throws UNAUTHENTICATED for rule 1, NOT_FOUND for rules 2 and 3, FAILED_PRECONDITION for an invalid total,
 * ALREADY_EXISTS for rule 4, and ABORTED if the order or its user keeps changing.
 */
export function generateCancellationCoupon({
  database,
}: CouponParts): Handler<typeof CouponService.method.generateCancellationCoupon> {
  return async (request, call) => {
    const named = readOrder(request);
    const staffId = await call.staffId();
    // 1, for a caller without a staff identity
    if (staffId === undefined) throw fail(couponErrors.unauthorized);
    const db = database.for(call);
    const found = await conditionalWrite(async () => {
      const [order] = await db.query(selectOrder(named));
      // 2
      if (order === undefined) throw fail(couponErrors.orderNotFound);
      // 3
      const { orderId, userId, name, mobile } = order;
      if (userId === null) throw fail(couponErrors.orderUserNotFound);
      if (!order.hasSoundTotal) throw fail(couponErrors.orderTotalInvalid);
      // 4
      const couponCode = refundCode(name || mobile || 'USR', orderId);
      const refund = { orderId, userId, name, mobile, couponCode, staffId, validForDays };
      return db.query(issueRefund({ ...actorOf(call), ...refund }));
    });
    // 1, if the staff user was removed after the check above, in which case rules 2 and 3 come first; or else 4
    if (!found.mayWrite) throw fail(found.isStaff ? couponErrors.couponCodeTaken : couponErrors.unauthorized);
    return { coupon: toCoupon(found) };
  };
}

/** Throws INVALID_ARGUMENT if the request names an order in both ways, or in none (design 14). */
function readOrder({ orderId, orderExternalId }: GenerateCancellationCouponRequest) {
  if (orderId && orderExternalId !== '') throw invalidField('order_external_id', 'must not be given beside order_id');
  if (orderId === undefined && orderExternalId === '') throw invalidField('order_id', 'value is required');
  return { orderId, orderExternalId: orderExternalId || undefined };
}

/** Rule 4: returns the first three characters of the name in upper case, followed by the order's id. */
export function refundCode(name: string, orderId: number): string {
  return `${firstCharacters(name, 3).toUpperCase().normalize('NFC')}${orderId}`;
}

interface OrderRow {
  userId: number | null;
  name: string | null;
  mobile: string | null;
}

const selectOrder = statement<OrderRow & { orderId: number; hasSoundTotal: boolean }, ReturnType<typeof readOrder>>(
  'orderToRefund',
  `select orders.id as "orderId", users.id as "userId", users.name, users.mobile,
     total_amount >= 0 and total_amount < 'Infinity' as "hasSoundTotal"
   from (
     select * from orders where id = $orderId::integer union all select * from orders where external_id = $orderExternalId::text
   ) as orders left join users on users.id = orders.user_id`,
);

interface Refund extends OrderRow, Actor {
  orderId: number;
  couponCode: string;
  staffId: number;
  validForDays: number;
}

type Found = { isStaff: boolean; mayWrite: boolean } & (CouponRow | { id: null });

// The lock waits for a transaction that deletes the order or its user, or changes what the code is made of.
const issueRefund = statement<Found, Refund>(
  'generateCancellationCoupon',
  `with refunded as (
     select users.id as user_id, orders.total_amount
     from orders join users on users.id = orders.user_id
     where orders.id = $orderId and users.id = $userId and users.name is not distinct from $name
       and users.mobile is not distinct from $mobile
     for key share
   ),
   found as (
     select
       exists (select from refunded) as "isCurrent",
       ${isStaff},
       ${isCodeFree}
   ),
   -- 5
   written as (
     insert into coupons (
       coupon_code, created_by, is_user_based, flat_discount, min_order, max_value, max_limit_for_user, valid_till
     )
     select $couponCode, $staffId, true, total_amount, total_amount, total_amount, 1,
       now() + $validForDays * interval '24 hours'
     from found, refunded where ${ifNewKey('"isStaff" and "isCodeFree"')}
     on conflict (coupon_code) do nothing
     returning *
   ),
   linked as (
     insert into coupon_applicable_users (coupon_id, user_id)
     select written.id, refunded.user_id from written, refunded
   ),
   ${createdEntry(
     'coupon',
     `${couponFields('written')}, 'applicableUsers', json_build_array(user_id), 'applicableProducts', json_build_array()`,
     'written, refunded',
   )},
   statuses as (update order_statuses set refund_coupon_id = written.id from written where order_id = $orderId)
   -- If the order or its user has changed, or another transaction takes the code, the write runs again.
   select found.*, not "isCurrent" or ("isStaff" and "isCodeFree") as "mayWrite", ${couponColumns}
   from found left join written as coupons on true`,
);
