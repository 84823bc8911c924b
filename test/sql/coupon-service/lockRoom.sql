select pg_advisory_xact_lock(hashtext('redemptions of an order'), hashtext($orderKey::text)),
pg_advisory_xact_lock(hashtext('uses of a coupon'), hashtext($couponId::text || ' ' || $userId::text))
