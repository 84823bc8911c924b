select pg_advisory_xact_lock(hashtext(own_name('redemptions of an order')), hashtext($orderKey::text)),
pg_advisory_xact_lock(hashtext(own_name('uses of a coupon')), hashtext($couponId::text || ' ' || $userId::text))
