select pg_advisory_xact_lock(hashtext('redemptions of an order'), hashtext(order_key)),
pg_advisory_xact_lock(hashtext('uses of a coupon'), hashtext(coupon_id || ' ' || user_id)) from redemptions where id = $id
