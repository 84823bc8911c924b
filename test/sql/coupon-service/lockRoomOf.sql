select pg_advisory_xact_lock(hashtext(own_name('redemptions of an order')), hashtext(order_key)),
pg_advisory_xact_lock(hashtext(own_name('uses of a coupon')), hashtext(coupon_id || ' ' || user_id)),
case when held_until <= statement_timestamp() + interval '10 seconds' then case when max_uses > 0
then pg_advisory_xact_lock(hashtext(own_name('all uses of a coupon')), coupon_id) else pg_advisory_xact_lock_shared(hashtext(own_name('all uses of a coupon')), coupon_id) end end
from redemptions left join coupons on coupons.id = coupon_id where redemptions.id = $id
