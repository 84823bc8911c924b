select users.id as "userId", users.name, users.mobile,
total_amount >= 0 and total_amount < 'Infinity' as "hasSoundTotal"
from orders left join users on users.id = orders.user_id
where orders.id = $orderId
