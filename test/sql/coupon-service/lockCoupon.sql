with codes as materialized (
  select pg_advisory_xact_lock(hashtext(own_name('coupon_code'))) from coupons where id = $id and coupon_code <> $couponCode
)
select from coupons, (select count(*) from codes) as locked where id = $id for no key update of coupons
