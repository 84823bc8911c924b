select orders.id as "orderId", users.id as "userId", users.name, users.mobile,
total_amount >= 0 and total_amount < 'Infinity' as "hasSoundTotal"
from (
  select * from orders where id = $orderId::integer union all select * from orders where external_id = $orderExternalId::text
) as orders left join users on users.id = orders.user_id
