select orders.id,
case when users.id is not null
then json_build_object('id', users.id, 'name', coalesce(nullif(users.name, ''), 'Unknown'), 'mobile', coalesce(users.mobile, '')) end as "user",
case when total_amount >= 0 and total_amount < 'Infinity' then total_amount end as "totalAmount",
coupons.id as "refundCouponId", coupons.coupon_code as "refundCouponCode",
orders.external_id as "externalId"
from orders
left join users on users.id = orders.user_id
left join coupons on coupons.id = (select max(refund_coupon_id) from order_statuses where order_id = orders.id)
where orders.id = any($orderIds::integer[])
order by orders.id
