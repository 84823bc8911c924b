select pg_advisory_xact_lock(hashtext(own_name('redemptions of an order')), hashtext($orderKey::text)),
pg_advisory_xact_lock(hashtext(own_name('uses of a coupon')), hashtext($couponId::text || ' ' || $userId::text)),
case when $maxUses::integer > 0 then pg_advisory_xact_lock(hashtext(own_name('all uses of a coupon')), $couponId::integer) else pg_advisory_xact_lock_shared(hashtext(own_name('all uses of a coupon')), $couponId::integer) end
