select case when max_uses > 0 then pg_advisory_xact_lock(hashtext(own_name('all uses of a coupon')), coupon_id) else pg_advisory_xact_lock_shared(hashtext(own_name('all uses of a coupon')), coupon_id) end from redemptions left join coupons on coupons.id = coupon_id
where redemptions.id = $id and held_until <= statement_timestamp() + interval '1 minute'
