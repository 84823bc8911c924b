select pg_advisory_xact_lock(hashtext(own_name('redemptions of an order')), hashtext(order_key)),
pg_advisory_xact_lock(hashtext(own_name('uses of a coupon')), hashtext(coupon_id || ' ' || user_id)) from redemptions where id = $id
