import { statement } from '../../../shared/db/statement.ts';
import type { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type ListedUserRow, shownName } from '../catalog/catalog.ts';
import type { CatalogParts } from '../parts.ts';

/** Design 11, GetOrders: lists orders with their users and refunds by their ids, by id. Omits ids without an order. */
export function getOrders({ database }: CatalogParts): Handler<typeof CatalogService.method.getOrders> {
  return async ({ orderIds }, call) => {
    if (orderIds.length === 0) return { orders: [] };
    const orders = await database.for(call).query(selectOrders({ orderIds }));
    return { orders: mapped(orders, toOrder) };
  };
}

interface OrderRow {
  id: number;
  user: ListedUserRow | null;
  totalAmount: string | null;
  refundCouponId: number | null;
  refundCouponCode: string | null;
  externalId: string | null;
}

function toOrder({ id, user, totalAmount, refundCouponId, refundCouponCode, externalId }: OrderRow) {
  return {
    id,
    user: user ?? undefined,
    totalAmount: totalAmount ?? undefined,
    refundCouponId: refundCouponId ?? undefined,
    refundCouponCode: refundCouponCode ?? undefined,
    externalId: externalId ?? undefined,
  };
}

// An order may have several statuses or none. A refund marks all that it has, and the latest one counts.
const selectOrders = statement<OrderRow, { orderIds: readonly number[] }>(
  'getOrders',
  `select orders.id,
     case when users.id is not null
       then json_build_object('id', users.id, 'name', ${shownName}, 'mobile', coalesce(users.mobile, '')) end as "user",
     case when total_amount >= 0 and total_amount < 'Infinity' then total_amount end as "totalAmount",
     coupons.id as "refundCouponId", coupons.coupon_code as "refundCouponCode",
     orders.external_id as "externalId"
   from orders
     left join users on users.id = orders.user_id
     left join coupons on coupons.id = (select max(refund_coupon_id) from order_statuses where order_id = orders.id)
   where orders.id = any($orderIds::integer[])
   order by orders.id`,
);
